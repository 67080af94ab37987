r"""A text file as bytes and as text, with a way between the two. Owns: lines, columns, line ends, windows, insertion.

Must not know: the engine, the terminal. The file stays a byte string: text is only looked at, and what is inserted goes
in at a byte offset, so nothing else can change. Bytes that are not UTF-8 count as one character each and reach the
model as U+FFFD: an old Latin-1 name in a comment is no reason to refuse a file whose other bytes are not touched.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from attrs import frozen

from engine.commands.errors import BadInputError, CommandError
from engine.commands.place import Place

PREFIX_CHARS: Final = 48_000
SUFFIX_CHARS: Final = 16_000
"""Most text around the region that is sent; more than any model at hand can read."""
MAX_BYTES: Final = 256 * 1024 * 1024
_BOM: Final = "\ufeff"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
_NOT_UTF8: Final = re.compile("[\ud800-\udfff]")


@frozen
class TextFile:
    """One file, read once."""

    path: Path
    """With symbolic links resolved."""
    data: bytes
    text: str
    """All of `data`, decoded; bytes that are not UTF-8 as lone surrogates."""

    def offset_of(self, place: Place) -> int:
        """Index in `text`. Raises `BadInputError` when there is no such place."""
        start = 1 if self.text.startswith(_BOM) else 0  # the mark is no character of line 1
        n_lines = 1
        for end in _LINE_END.finditer(self.text):
            if n_lines == place.line:
                return self._on_line(place, start, end.start())
            start, n_lines = end.end(), n_lines + 1
        if n_lines == place.line:
            return self._on_line(place, start, len(self.text))
        raise BadInputError(f"{place.path} has {_count(n_lines, 'line')}; there is no line {place.line}")

    def _on_line(self, place: Place, start: int, end: int) -> int:
        if place.column is None:
            return end
        if place.column > end - start + 1:
            told = f"{place.path}: line {place.line} has {_count(end - start, 'character')}"
            raise BadInputError(f"{told}; its columns are 1 to {end - start + 1}, not {place.column}")
        return start + place.column - 1

    def line_end_at(self, offset: int) -> str:
        r"""The line end of this line, else of the one before, else `\n`."""
        after = _LINE_END.search(self.text, offset)
        if after is not None:
            return after.group()
        before = max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset))
        if before < 0:
            return "\n"
        return "\r\n" if self.text[before - 1 : before + 1] == "\r\n" else self.text[before]

    def window_at(self, offset: int) -> tuple[str, str]:
        r"""What the model is shown before and after `offset`: UTF-8, `\n` as the only line end."""
        prefix = self.text[max(0, offset - PREFIX_CHARS) : offset].removeprefix(_BOM)
        return _to_model(prefix), _to_model(self.text[offset : offset + SUFFIX_CHARS])

    def in_own_line_ends(self, text: str, offset: int) -> str:
        """A model's text as it goes into this file."""
        end = self.line_end_at(offset)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text if end == "\n" else text.replace("\n", end)

    def byte_offset(self, offset: int) -> int:
        """Index in `data` of the index `offset` in `text`."""
        return len(self.text[:offset].encode("utf-8", "surrogateescape"))

    def with_inserted(self, offset: int, text: str) -> bytes:
        """The file's bytes with `text` at `offset`; every other byte as it was."""
        at = self.byte_offset(offset)
        return self.data[:at] + text.encode("utf-8") + self.data[at:]


def read_text_file(path: Path) -> TextFile:
    """Read a file. Raises `BadInputError` for what is no text file, `CommandError` when it can't be read."""
    try:
        real = path.resolve(strict=True)
        if real.is_dir():
            raise BadInputError(f"{path} is a folder")
        if not real.is_file():
            raise BadInputError(f"{path} is not an ordinary file")
        if (n_bytes := real.stat().st_size) > MAX_BYTES:
            raise BadInputError(f"{path} has {n_bytes / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} are read")
        data = real.read_bytes()
    except FileNotFoundError:
        raise BadInputError(f"{path} does not exist") from None
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links; a NUL in the name
        raise CommandError(f"can't read {path}: {getattr(error, 'strerror', None) or error}") from None
    if b"\0" in data:
        raise BadInputError(f"{path} is no text in UTF-8: it holds NUL bytes (a binary file, or UTF-16)")
    return TextFile(real, data, data.decode("utf-8", "surrogateescape"))


def _to_model(text: str) -> str:
    return _NOT_UTF8.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
