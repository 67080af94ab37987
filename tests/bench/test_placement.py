"""What a benchmark takes for a suggestion that fits."""

from __future__ import annotations

from typing import Any

import pytest

from engine.bench.placement import position_of, suggested
from engine.bench.typist import Edit

TEXT = "é😀 = fo\nend()\n"
CURSOR = 7
"""Behind `fo`."""


def item(text: str, start: tuple[int, int], end: tuple[int, int], **more: Any) -> dict[str, Any]:
    """An item of an answer."""
    ends = {name: {"line": place[0], "character": place[1]} for name, place in (("start", start), ("end", end))}
    return {"insertText": text, "range": ends, **more}


def test_positions_count_utf16_units() -> None:
    assert position_of(TEXT, CURSOR) == {"line": 0, "character": 8}
    assert position_of(TEXT, len(TEXT)) == {"line": 2, "character": 0}


@pytest.mark.parametrize(
    ("fits", "edit"),
    [
        (item("o(1)", (0, 8), (0, 8)), Edit(7, 7, "o(1)")),
        (item("o(1)\nb", (0, 8), (0, 8), filterText="o(1)"), Edit(7, 7, "o(1)\nb")),
        (item("foo()", (0, 6), (0, 8), filterText="foo()"), Edit(5, 7, "foo()")),
    ],
)
def test_what_fits(fits: dict[str, Any], edit: Edit) -> None:
    assert suggested(fits, TEXT, CURSOR) == edit


@pytest.mark.parametrize(
    "wrong",
    [
        {"insertText": "x"},
        {"range": item("", (0, 8), (0, 8))["range"]},
        item("x", (0, 9), (0, 9)),
        item("x", (0, 7), (0, 7)),
        item("x", (0, 2), (0, 8)),
        item("x", (0, 8), (1, 0)),
        item("x", (1, 0), (1, 0)),
        item("x", (5, 0), (5, 0)),
        item("bar", (0, 6), (0, 8)),
        item(" \n ", (0, 8), (0, 8)),
        item("fo", (0, 6), (0, 8)),
        item("x\r\n", (0, 8), (0, 8)),
        item("foo()", (0, 6), (0, 8), filterText="bar"),
    ],
)
def test_what_does_not(wrong: dict[str, Any]) -> None:
    assert suggested(wrong, TEXT, CURSOR) is None
