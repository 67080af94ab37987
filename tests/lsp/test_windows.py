"""What the engine sees of a document: bounded, stable under typing, of clean text."""

from __future__ import annotations

import random
import time

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lsp_server.line_ends import to_model
from lsp_server.positions import Point
from lsp_server.windows import PREFIX_CHARS, STRIDE_CHARS, SUFFIX_CHARS, cut_window
from tests.lsp.test_positions import TEXTS, document


def long_text(n_lines: int, seed: int = 0) -> str:
    """Lines of many lengths."""
    source = random.Random(seed)
    return "".join("x" * source.randrange(120) + "\n" for _ in range(n_lines))


@given(TEXTS, st.data())
def test_small_documents_whole(text: str, data: st.DataObject) -> None:
    one = document(text)
    point = one.point_at(types.Position(data.draw(st.integers(0, 6)), data.draw(st.integers(0, 40))))
    window = cut_window(one, point, point)
    offset = one.offset_at(point)
    for got, whole in ((window.prefix, text[:offset]), (window.suffix, text[offset:])):
        got.encode("utf-8")
        clean = to_model(whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        assert got == clean


@given(st.integers(0, 3000), st.integers(0, 120))
def test_bounds_and_cuts(line: int, column: int) -> None:
    one = document(long_text(3000))
    point = one.point_at(types.Position(line, column))
    window = cut_window(one, point, point)
    offset, text = one.offset_at(point), one.text
    assert text[:offset].endswith(window.prefix) and text[offset:].startswith(window.suffix)
    assert min(offset, PREFIX_CHARS - STRIDE_CHARS - 120) <= len(window.prefix) <= PREFIX_CHARS
    assert min(len(text) - offset, SUFFIX_CHARS - 120) <= len(window.suffix) <= SUFFIX_CHARS
    cut = offset - len(window.prefix)
    assert cut == 0 or text[cut - 1] == "\n"
    end = offset + len(window.suffix)
    assert end == len(text) or text[end - 1] == "\n"


def test_typing_only_appends() -> None:
    one = document(long_text(1500))
    point, starts = Point(1200, 0), set()
    for _ in range(500):
        one.lines[point.line] = one.lines[point.line][: point.column] + "y" * 8 + one.lines[point.line][point.column :]
        point = Point(point.line, point.column + 8)
        starts.add(one.offset_at(point) - len(cut_window(one, point, point).prefix))
    assert len(starts) <= 2  # 4000 characters cross one stride at most


def test_a_huge_line_costs_little() -> None:
    one = document("é" * 5_000_000)
    middle = one.point_at(types.Position(0, 2_500_000))
    began = time.perf_counter()
    for i in range(20):
        point = Point(0, middle.column + i)
        window = cut_window(one, point, point)
        assert len(window.prefix) <= PREFIX_CHARS and len(window.suffix) == SUFFIX_CHARS
    assert (time.perf_counter() - began) / 20 < 0.05
    a, b = (cut_window(one, Point(0, c), Point(0, c)) for c in (2_500_000, 2_500_001))
    assert b.prefix == a.prefix + "é"


def test_a_region_over_lines() -> None:
    window = cut_window(document("one\r\ntwo\r\nthree"), Point(0, 1), Point(2, 2))
    assert (window.prefix, window.suffix) == ("o", "ree")


def test_a_cell_among_others() -> None:
    one = document("x = 1\r\ny\n")
    one.around = lambda: ("a\n\n", "\n\nb")
    window = cut_window(one, Point(1, 1), Point(1, 1))
    assert (window.prefix, window.suffix) == ("a\n\nx = 1\ny", "\n\n\nb")


def test_typing_in_a_cell_only_appends() -> None:
    before, after = long_text(1500), long_text(900, seed=1)
    one = document("")
    one.around = lambda: (before, after)
    starts = set()
    for column in range(0, 4000, 8):
        one.lines[0] += "y" * 8
        point = Point(0, column + 8)
        window = cut_window(one, point, point)
        assert (before + one.text).endswith(window.prefix) and after.startswith(window.suffix)
        assert PREFIX_CHARS - STRIDE_CHARS - 120 <= len(window.prefix) <= PREFIX_CHARS
        assert SUFFIX_CHARS - 120 <= len(window.suffix) <= SUFFIX_CHARS
        starts.add(len(before) + point.column - len(window.prefix))
    assert len(starts) <= 2
