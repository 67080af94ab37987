"""Places, windows and insertion: what is not inserted stays as it was, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.commands.errors import BadInputError, CommandError
from engine.commands.place import Place, parse_place
from engine.commands.text_file import PREFIX_CHARS, SUFFIX_CHARS, TextFile, read_text_file

_PIECES = (
    b"a",
    b"\t",
    b" ",
    b"\n",
    b"\r\n",
    b"\r",
    "é".encode(),
    "🧵".encode(),
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
)
_data = st.lists(st.sampled_from(_PIECES), max_size=30).map(b"".join)
_inserted = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


def make(data: bytes) -> TextFile:
    return TextFile(Path("/a.py"), data, data.decode("utf-8", "surrogateescape"))


def at(line: int, column: int | None = None) -> Place:
    return Place(Path("a.py"), line, column)


@pytest.mark.parametrize(
    ("told", "file", "line", "column"),
    [
        ("a.py:3", "a.py", 3, None),
        ("a.py:3:4", "a.py", 3, 4),
        ("a:b.py:3:4", "a:b.py", 3, 4),
        ("a:1:2:3", "a:1", 2, 3),
        ("dir with space/ä.py:12:1", "dir with space/ä.py", 12, 1),
    ],
)
def test_places_are_read(told: str, file: str, line: int, column: int | None) -> None:
    assert parse_place(told) == Place(Path(file), line, column)


@pytest.mark.parametrize("told", ["", "a.py", ":3", "a.py:", "a.py:x", "a.py:0", "a.py:1:0", "a.py:-1", "a.py:3:"])
def test_what_is_no_place_is_refused(told: str) -> None:
    with pytest.raises(BadInputError):
        parse_place(told)


@pytest.mark.parametrize(
    ("data", "place", "before"),
    [
        (b"", at(1), ""),
        (b"", at(1, 1), ""),
        (b"ab\ncd", at(2, 1), "ab\n"),
        (b"ab\ncd", at(2), "ab\ncd"),
        (b"ab\ncd\n", at(3, 1), "ab\ncd\n"),
        (b"ab\r\ncd", at(1), "ab"),
        (b"ab\r\ncd", at(2, 2), "ab\r\nc"),
        (b"ab\rcd\r", at(2, 3), "ab\rcd"),
        ("🧵x\n".encode(), at(1, 2), "🧵"),
        ("\ufeffab".encode(), at(1, 1), "\ufeff"),
        ("\ufeff".encode(), at(1), "\ufeff"),
        (b"\ta", at(1, 2), "\t"),
        (b"a\x0cb\xe2\x80\xa8c", at(1, 5), "a\x0cb\u2028"),  # neither is a line end
    ],
)
def test_offsets(data: bytes, place: Place, before: str) -> None:
    file = make(data)
    assert file.text[: file.offset_of(place)] == before


@pytest.mark.parametrize(
    ("data", "place", "told"),
    [
        (b"", at(2), "1 line; there is no line 2"),
        (b"a\nb\n", at(4), "3 lines"),
        (b"ab\n", at(1, 4), "2 characters; its columns are 1 to 3, not 4"),
        (b"ab\r\n", at(1, 4), "2 characters"),
        (b"", at(1, 2), "0 characters"),
    ],
)
def test_places_that_are_not_there_are_refused(data: bytes, place: Place, told: str) -> None:
    with pytest.raises(BadInputError, match=told):
        make(data).offset_of(place)


@given(_data, st.integers(0, 60), _inserted)
def test_every_other_byte_stays(data: bytes, where: int, inserted: str) -> None:
    file = make(data)
    offset = min(where, len(file.text))
    at_byte = file.byte_offset(offset)
    text = file.in_own_line_ends(inserted, offset)
    new = file.with_inserted(offset, text)
    assert new[:at_byte] == data[:at_byte]
    assert new[at_byte + len(text.encode()) :] == data[at_byte:]
    assert len(new) == len(data) + len(text.encode())


@given(_data, st.integers(0, 60))
def test_the_window_can_be_sent(data: bytes, where: int) -> None:
    file = make(data)
    prefix, suffix = file.window_at(min(where, len(file.text)))
    for text in (prefix, suffix):
        text.encode("utf-8")
        assert "\r" not in text


@pytest.mark.parametrize(
    ("data", "line", "end"),
    [
        (b"a\r\nb\r\n", 1, "\r\n"),
        (b"a\r\nb", 2, "\r\n"),
        (b"a\rb", 2, "\r"),
        (b"a\r\nb\nc", 2, "\n"),
        (b"a\nb", 2, "\n"),
        (b"a", 1, "\n"),
        (b"", 1, "\n"),
    ],
)
def test_inserted_lines_end_as_the_file_s_do(data: bytes, line: int, end: str) -> None:
    file = make(data)
    offset = file.offset_of(at(line))
    assert file.in_own_line_ends("x\ny\r\nz\r", offset) == f"x{end}y{end}z{end}"


def test_a_huge_line_is_cut_to_the_window() -> None:
    file = make(b"x" * 5_000_000)
    prefix, suffix = file.window_at(file.offset_of(at(1, 2_500_000)))
    assert (len(prefix), len(suffix)) == (PREFIX_CHARS, SUFFIX_CHARS)


def test_what_is_no_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"ab\0c")
    (tmp_path / "utf16").write_text("ab", encoding="utf-16")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, told in (("binary", "NUL"), ("utf16", "NUL"), ("nothing", "does not exist"), (".", "is a folder")):
        with pytest.raises(BadInputError, match=told):
            read_text_file(tmp_path / name)
    with pytest.raises(CommandError, match="can't read"):
        read_text_file(tmp_path / "loop")
    with pytest.raises(BadInputError, match="not an ordinary file"):
        read_text_file(Path("/dev/null"))


def test_bytes_that_are_not_utf8_are_kept_and_shown_as_replaced(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(b"# M\xfcller\nx = \n")
    file = read_text_file(path)
    offset = file.offset_of(at(2))
    assert file.window_at(offset) == ("# M\ufffdller\nx = ", "\n")
    assert file.with_inserted(offset, "1") == b"# M\xfcller\nx = 1\n"
