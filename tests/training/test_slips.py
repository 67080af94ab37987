"""Slips: the number of tokens stays, something is wrong, and it is plausible."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.catalog import BUNDLED_DIR
from engine.training.hole_tokens import vocabulary_of
from engine.training.near_names import NearNames
from engine.training.slips import SlipKind, Slips, SlipShares, slip

SLIPS = Slips(BUNDLED_DIR)
VOCABULARY = vocabulary_of(BUNDLED_DIR)
NEAR = NearNames(VOCABULARY)
FILL = 2
TOKENS = st.lists(st.integers(10, 400), max_size=20)


def one(tokens: list[int], kind: SlipKind, seed: int = 0) -> list[int] | None:
    rng = np.random.default_rng(seed)
    return slip(tokens, kind, rng, [91, 92], lambda token: [token + 1000], FILL, [93])


@settings(deadline=None)
@given(tokens=TOKENS, kind=st.sampled_from(SlipKind), seed=st.integers(0, 1000))
def test_one_slip_is_of_its_kind(tokens: list[int], kind: SlipKind, seed: int) -> None:
    before = list(tokens)
    made = one(tokens, kind, seed)
    assert tokens == before
    if made is None:
        return
    assert len(made) == len(tokens)
    assert made != tokens
    changed = [i for i, (a, b) in enumerate(zip(tokens, made, strict=True)) if a != b]
    at = changed[0]
    if kind is SlipKind.DROPPED:
        assert made[-1] == FILL or tokens[-1] == FILL
        assert Counter(made) - Counter(tokens) == Counter([FILL])
    elif kind is SlipKind.DOUBLED:
        assert not Counter(made) - Counter(tokens + tokens)
        assert made[at] == made[at - 1]
    elif kind is SlipKind.SWAPPED:
        assert changed == [at, at + 1]
        assert Counter(made) == Counter(tokens)
    else:
        assert changed == [at]
        assert made[at] in {SlipKind.OTHER: (91, 92), SlipKind.NEAR: (tokens[at] + 1000,), SlipKind.RANDOM: (93,)}[kind]


def test_what_changes_nothing_is_told() -> None:
    assert all(one([], kind) is None for kind in SlipKind)
    assert one([7], SlipKind.SWAPPED) is None
    assert one([7], SlipKind.DOUBLED) is None
    assert one([93], SlipKind.RANDOM) is None
    rng = np.random.default_rng(0)
    assert slip([7], SlipKind.NEAR, rng, [], lambda token: (), FILL, [93]) is None
    assert slip([7], SlipKind.OTHER, rng, [], lambda token: (), FILL, [93]) is None


@settings(deadline=None)
@given(tokens=TOKENS, seed=st.integers(0, 1000), pool=TOKENS)
def test_slips_keep_the_number_and_change_something(tokens: list[int], seed: int, pool: list[int]) -> None:
    array = np.array(pool, dtype=np.int64)
    made = SLIPS(tokens, np.random.default_rng(seed), array)
    assert len(made) == len(tokens)
    assert (made != tokens) == bool(tokens)
    assert made == SLIPS(tokens, np.random.default_rng(seed), array)


def test_markers_are_no_slips() -> None:
    only_other = Slips(BUNDLED_DIR, SlipShares(other=1, near=0, dropped=0, doubled=0, swapped=0, random=0))
    markers = np.array([VOCABULARY.id("<|fim_prefix|>"), VOCABULARY.id("<|fim_suffix|>"), 300], dtype=np.int64)
    for seed in range(20):
        made = only_other.make([50, 51, 52, 53], 2, np.random.default_rng(seed), markers)
        assert set(made) <= {50, 51, 52, 53, 300}


def test_slips_are_few() -> None:
    rng = np.random.default_rng(0)
    tokens = list(range(100, 116))
    replaced = Slips(BUNDLED_DIR, SlipShares(other=0, near=0, dropped=0, doubled=0, swapped=0, random=1))
    wrong = [sum(a != b for a, b in zip(tokens, replaced(tokens, rng, np.arange(0)), strict=True)) for _ in range(300)]
    assert set(wrong) <= {1, 2, 3}
    assert wrong.count(1) > 150


@pytest.mark.parametrize(
    ("text", "near"),
    [
        (" value", {"value", " values", " Value"}),
        ("self", {" self"}),
        (" True", {" true"}),
        ("(", set()),
        ("\n", set()),
    ],
)
def test_near_names(text: str, near: set[str]) -> None:
    (token,) = VOCABULARY.encode(text)
    found = {VOCABULARY.decode([other]).decode() for other in NEAR(token)}
    known = {word for word in near if len(VOCABULARY.encode(word)) == 1}
    assert known <= found
    assert token not in NEAR(token)
    assert NEAR(token) is NEAR(token)
    if not near:
        assert not found


def test_a_marker_is_near_nothing() -> None:
    assert NEAR(VOCABULARY.id("<|fim_pad|>") or 0) == ()
