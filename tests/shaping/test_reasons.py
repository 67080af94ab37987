"""Why a text is not shown, case by case."""

from __future__ import annotations

import pytest

from lsp_server.outcomes import Nothing
from lsp_server.shaping import shaped_text, why_not
from tests.shaping.cases import place_of, text_of


@pytest.mark.parametrize(
    "place, text, expected",
    [
        ("a()⏎│⏎b()", "b()", Nothing.FOLLOWS_ALREADY),
        ("a()⏎│⏎⏎b()⏎c()", "b()⏎c()", Nothing.FOLLOWS_ALREADY),
        ("if x:⏎    a()⏎    │⏎    b()", "b()", Nothing.FOLLOWS_ALREADY),
        ("if x:⏎        │⏎    return None", "return None", None),
        ("print(│)", ")", Nothing.FOLLOWS_ALREADY),
        ("print(│):", "):", Nothing.FOLLOWS_ALREADY),
        ("return │foo", "foo", Nothing.FOLLOWS_ALREADY),
        ("foo(bar(│)", ")", None),
        ("x = (⏎    │⏎)", ")", Nothing.FOLLOWS_ALREADY),
        ("x = │", "", Nothing.BLANK),
        ("x = │", "  ⏎", Nothing.BLANK),
        ("x = │", "5", None),
        ("self.total = total⏎│", "self.total = total", Nothing.REPEATS),
        ("a(first)⏎b(second)⏎│⏎", "a(first)⏎b(second)", Nothing.REPEATS),
        ("next(it)⏎│", "next(it)", None),
        ("x = [⏎    0,⏎    │⏎]", "0,", None),
    ],
)
def test_why_not(place: str, text: str, expected: Nothing | None) -> None:
    where = place_of(place)
    assert why_not(shaped_text(text_of(text), where), where) is expected
