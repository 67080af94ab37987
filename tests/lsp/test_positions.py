"""Columns, documents and their edits, against plain strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.types import PositionEncodingKind as Encoding

from lsp_server.documents import Document, Documents, UnknownDocumentError
from lsp_server.line_ends import from_model, line_end, split_lines, to_model
from lsp_server.positions import Point, column_at, units_at

ENCODINGS = st.sampled_from(list(Encoding))
PIECES = st.sampled_from(
    ["a", "\t", "é", "e\u0301", "中", "😀", "👩‍👩‍👧", "𝕏", "\ud83d", "\u2028", "\x0c", "\x85", " "]
)
LINES = st.lists(PIECES, max_size=12).map("".join)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.lists(st.tuples(LINES, ENDS), max_size=6).map(lambda ls: "".join(map("".join, ls))) | LINES


def width(text: str, encoding: Encoding) -> int:
    """Code units of a text, in the plainest way."""
    if encoding is Encoding.Utf32:
        return len(text)
    per_unit = 1 if encoding is Encoding.Utf8 else 2
    name = encoding.value + ("" if encoding is Encoding.Utf8 else "-le")
    return sum(len(char.encode(name, "surrogatepass")) // per_unit for char in text)


def document(text: str, encoding: Encoding = Encoding.Utf16) -> Document:
    """A document of this text."""
    return Document("file:///a", "python", 1, encoding, split_lines(text))


@given(LINES, ENCODINGS)
def test_columns_round_trip(line: str, encoding: Encoding) -> None:
    for column in range(len(line) + 1):
        units = units_at(line, column, encoding)
        assert units == width(line[:column], encoding)
        assert column_at(line, units, encoding) == column


@given(LINES, ENCODINGS, st.integers(-2, 80))
def test_units_inside_a_character_clamp_left(line: str, encoding: Encoding, units: int) -> None:
    column = column_at(line, units, encoding)
    assert 0 <= column <= len(line)
    assert column == 0 or width(line[:column], encoding) <= units
    assert column == len(line) or units < width(line[: column + 1], encoding)


@given(TEXTS)
def test_lines_are_split_at_three_ends_only(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert line_end(lines[-1]) == ""
    for line in lines[:-1]:
        end = line_end(line)
        assert end and not set(line.removesuffix(end)) & {"\r", "\n"}
    assert len(lines) == 1 + text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@given(TEXTS, TEXTS, ENCODINGS, st.data())
def test_an_edit_equals_the_edit_of_a_string(text: str, new: str, encoding: Encoding, data: st.DataObject) -> None:
    edited = document(text, encoding)
    lines = split_lines(text)
    points = [Point(i, column) for i, line in enumerate(lines) for column in range(len(line) - len(line_end(line)) + 1)]
    start, end = sorted((data.draw(st.sampled_from(points)), data.draw(st.sampled_from(points))))
    before, after = text[: edited.offset_at(start)], text[edited.offset_at(end) :]
    place = edited.range_of(start, end)
    assert (edited.point_at(place.start), edited.point_at(place.end)) == (start, end)
    edited.apply(types.TextDocumentContentChangePartial(range=place, text=new))
    assert edited.text == before + new + after
    assert edited.lines == split_lines(edited.text)


@given(TEXTS, ENCODINGS, st.integers(0, 12), st.integers(0, 60))
def test_any_position_means_some_place(text: str, encoding: Encoding, line: int, character: int) -> None:
    one = document(text, encoding)
    point = one.point_at(types.Position(line, character))
    assert point.line == min(line, len(one.lines) - 1)
    told = one.position_at(point)
    assert one.point_at(told) == point
    assert line >= len(one.lines) or told.character <= character


def test_beyond_the_end_of_a_last_line() -> None:
    assert document("ab\ncd").point_at(types.Position(1, 99)) == Point(1, 2)
    assert document("ab\r\ncd").point_at(types.Position(0, 99)) == Point(0, 2)


def test_a_range_that_ends_before_it_starts_is_an_insertion() -> None:
    one = document("abc")
    place = types.Range(types.Position(0, 2), types.Position(0, 1))
    one.apply(types.TextDocumentContentChangePartial(range=place, text="x"))
    assert one.text == "abxc"


def test_a_whole_new_text() -> None:
    one = document("abc")
    one.apply(types.TextDocumentContentChangeWholeDocument("x\ny"))
    assert one.lines == ["x\n", "y"]


@pytest.mark.parametrize(
    ("text", "line", "end"),
    [
        ("a\r\nb\n", 0, "\r\n"),
        ("a\r\nb\n", 1, "\n"),
        ("a\r\nb", 1, "\r\n"),
        ("a", 0, "\n"),
        ("", 0, "\n"),
        ("\r", 0, "\r"),
    ],
)
def test_line_end_to_insert(text: str, line: int, end: str) -> None:
    assert document(text).line_end_at(line) == end


@given(TEXTS, ENDS)
def test_line_ends_to_the_model_and_back(text: str, end: str) -> None:
    shown = to_model(text)
    assert "\r" not in shown
    assert to_model(from_model(shown, end)) == shown


def test_documents_by_uri() -> None:
    documents = Documents()
    documents.open(types.TextDocumentItem("file:///c%3A/a", "python", 1, ""))
    assert documents.get("file:///c:/a").version == 1 and len(documents) == 1
    documents.close("file:///C:/a")
    documents.close("file:///c:/a")
    with pytest.raises(UnknownDocumentError, match="not open"):
        documents.get("file:///c:/a")
