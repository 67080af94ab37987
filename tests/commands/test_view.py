"""The picture of a region in a terminal."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from engine.commands.view import SETTLED, TENTATIVE, RegionView, printable
from engine.protocol import Span


def test_settled_and_tentative_text_look_different() -> None:
    drawn = RegionView("def f():\n    return ", "\nf()\n", line=2).draw((Span("a", True), Span(" + b", False)))
    assert drawn.plain == "1 │ def f():\n2 │     return a + b\n3 │ f()"
    styles = {drawn.plain[span.start : span.end]: span.style for span in drawn.spans}
    assert styles["a"] == SETTLED
    assert styles[" + b"] == TENTATIVE


def test_the_view_never_gets_lower() -> None:
    view = RegionView("", "", line=1)
    assert view.draw((Span("a\nb\nc", False),)).plain.count("\n") == 2
    assert view.draw((Span("a", True),)).plain.count("\n") == 2


def test_the_last_picture_is_whole_and_has_nothing_below() -> None:
    view = RegionView("", "", line=1, height=2)
    assert view.draw((Span("a\nb\nc\nd", False),)).plain == "3 │ c\n4 │ d"
    assert view.draw((Span("a\nb\nc", True),), final=True).plain == "1 │ a\n2 │ b\n3 │ c"
    assert view.draw((Span("a", True),), final=True).plain == "1 │ a"


@pytest.mark.parametrize("width", [20, 40, 80])
def test_the_region_s_lines_are_whole_however_narrow_the_terminal(width: int) -> None:
    region = "\tcall(" + ", ".join(f"argument_{n}" for n in range(20)) + ", '日本語')"
    drawn = RegionView("x" * 200 + "\n", "\n" + "y" * 200, 2, width).draw((Span(region, True),), final=True)
    rows = drawn.plain.split("\n")
    assert max(cell_len(row) for row in rows) <= width
    assert rows[0].endswith("…")
    assert rows[-1].endswith("…")
    assert "".join(row.split(" │ ", 1)[1] for row in rows[1:-1]) == region.expandtabs(4)


def test_line_numbers_are_the_files() -> None:
    view = RegionView("\n".join(f"line {n}" for n in range(1, 12)), "\nafter", line=11)
    lines = view.draw(()).plain.splitlines()
    assert lines[0] == " 8 │ line 8"
    assert lines[3:] == ["11 │ line 11", "12 │ after"]


def test_the_region_is_in_view_behind_a_huge_line() -> None:
    drawn = RegionView("x" * 5_000_000, "y" * 5_000_000, line=1, width=80).draw((Span("here", True),))
    assert 0 < drawn.plain.index("here") < 60
    assert len(drawn.plain) < 1000


def test_text_can_not_steer_the_terminal() -> None:
    assert printable("a\x1b[2J\x07\tb\x9b\u202e") == "a\u241b[2J\u2407\tb\ufffd\ufffd"
    drawn = RegionView("\x1b]0;title\x07", "\x1b[31m", line=1).draw((Span("\x1b[H", False),))
    assert "\x1b" not in drawn.plain
