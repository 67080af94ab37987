"""How long to wait after a key."""

from __future__ import annotations

import pytest

from lsp_server.completions.rhythm import LEAST_PAUSE_S, MOST_PAUSE_S, Rhythm


def typed(*gaps_s: float) -> tuple[Rhythm, float]:
    rhythm, now = Rhythm(), 100.0
    rhythm.key(now)
    for gap in gaps_s:
        now += gap
        rhythm.key(now)
    return rhythm, now


def test_no_wait_where_nobody_types() -> None:
    assert Rhythm().wait_s(5.0) == 0.0


def test_the_wait_counts_from_the_last_key() -> None:
    rhythm, now = typed()
    assert 0 < rhythm.pause_s < MOST_PAUSE_S
    assert rhythm.wait_s(now) == pytest.approx(rhythm.pause_s)
    assert rhythm.wait_s(now + rhythm.pause_s / 2) == pytest.approx(rhythm.pause_s / 2)
    assert rhythm.wait_s(now + 1) == 0.0


@pytest.mark.parametrize("gap_s", [0.03, 0.06, 0.09, 0.12])
def test_a_steady_burst_is_not_a_pause(gap_s: float) -> None:
    rhythm, _ = typed(*[gap_s] * 12)
    assert gap_s < rhythm.pause_s <= MOST_PAUSE_S


def test_bounds() -> None:
    assert typed(*[0.001] * 9)[0].pause_s == LEAST_PAUSE_S
    assert typed(*[0.3] * 9)[0].pause_s == MOST_PAUSE_S


def test_long_gaps_and_one_slip_say_nothing() -> None:
    steady, _ = typed(*[0.05] * 10)
    broken, _ = typed(*[0.05] * 5, 3.0, *[0.05] * 4, 20.0)
    assert broken.pause_s == pytest.approx(steady.pause_s)
    slipped, _ = typed(*[0.05] * 9, 0.34)
    assert slipped.pause_s == pytest.approx(steady.pause_s)
