"""What has been typed since, told by text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.completions.cursor_text import CursorText
from lsp_server.windows import Window


def at(marked: str) -> CursorText:
    return CursorText.of(Window(*marked.split("│")))


@pytest.mark.parametrize(
    ("then", "text", "now", "n"),
    [
        ("x = │\n", "foo(a)", "x = │\n", 0),
        ("x = │\n", "foo(a)", "x = fo│\n", 2),
        ("x = │\n", "foo(a)", "x = foo(a)│\n", 6),
        ("x = │\n", "foo(a)", "x = fx│\n", None),
        ("x = │\n", "foo(a)", "x =│\n", None),  # taken back beyond where it began
        ("x = │\n", "foo(a)", "x = foo(│)\n", 4),  # closed by the editor
        ("x = │\n", "f([", "x = f([│])\n", 3),
        ("x = │\n", "foo(a)", "x = foo(a)│)\n", 6),
        ("x = │\n", "foo(a)", "x = foo(│x)\n", None),
        ("x = │)\n", "foo(a)", "x = foo│)\n", 3),
        ("│", "a\nb", "a\n│", 2),
        ("│", "a\nb", "a│\n", None),  # the line end is behind the cursor
        ("y\nx = │\n", "foo", "z\nx = f│\n", None),  # changed above
        ("x = │\ny\n", "foo", "x = f│\nz\n", None),  # changed below
        ("x(│\n", "((((", "x(((│\n", 2),
    ],
)
def test_n_typed(then: str, text: str, now: str, n: int | None) -> None:
    assert at(then).n_typed(text, at(now)) == n


def test_far_from_the_start() -> None:
    far = "line\n" * 5000
    assert at(f"{far}x = │\n").n_typed("foo", at(f"{far}x = fo│\n")) == 2
    assert at(f"{far}x = │\n").n_typed("foo", at(f"{far}x = o│\n")) is None
    assert at(f"{far}x = │\n").n_typed("foo", at(f"more\n{far}x = fo│\n")) == 2  # nothing near has changed


@given(st.text("ab(\n", max_size=30), st.text("ab)\n", max_size=30), st.text("ab()\n", max_size=12), st.data())
def test_typing_any_part(before: str, after: str, text: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(text)))
    then, now = CursorText.of(Window(before, after)), CursorText.of(Window(before + text[:n], after))
    assert then.n_typed(text, now) == n
