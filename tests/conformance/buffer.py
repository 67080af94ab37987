"""A document in the editor. Owns: its text, cursor and undo, and positions in the client's units.

Must not know: the server; nothing of its code is used, so that both may be compared.
"""

from __future__ import annotations

import re
from typing import Final

import attrs
from lsprotocol import types

CURSOR: Final = "│"
_LINE_START: Final = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_UNIT_BYTES: Final = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def text_of(notation: str, line_end: str = "\n") -> str:
    """The text that a notation stands for."""
    return notation.replace("⏎", line_end).replace("→", "\t")


@attrs.define
class Buffer:
    """One open document."""

    uri: str
    language: str
    text: str
    cursor: int
    """In code points."""
    encoding: str
    past: list[tuple[int, str, str]] = attrs.field(factory=list)
    """Changes: where, what went, what came."""

    @classmethod
    def of(cls, notation: str, uri: str, language: str, encoding: str, line_end: str) -> Buffer:
        """A document in the notation; without a cursor it is at the end."""
        text = text_of(notation, line_end)
        cursor = text.index(CURSOR) if CURSOR in text else len(text)
        return cls(uri, language, text.replace(CURSOR, "", 1), cursor, encoding)

    @property
    def notation(self) -> str:
        """The text with the cursor."""
        return self.text[: self.cursor] + CURSOR + self.text[self.cursor :]

    def change(self, start: int, end: int, new: str, cursor: int | None = None) -> tuple[types.Range, str]:
        """Change the text; the cursor goes behind what is new unless told. Returns what to tell the server."""
        place = types.Range(self.position(start), self.position(end))
        self.past.append((start, self.text[start:end], new))
        self.text = self.text[:start] + new + self.text[end:]
        self.cursor = start + len(new) if cursor is None else cursor
        return place, new

    def undo(self) -> tuple[types.Range, str]:
        """Take the last change back. Returns what to tell the server."""
        start, went, came = self.past.pop()
        told = self.change(start, start + len(came), went)
        self.past.pop()
        return told

    def position(self, offset: int) -> types.Position:
        """The position of a place in the text."""
        before = self._lines(self.text[:offset])
        if offset and self.text[offset - 1 : offset + 1] == "\r\n":
            raise AssertionError("a place inside a line end")
        return types.Position(len(before) - 1, self._units(before[-1]))

    def offset(self, position: types.Position) -> int:
        """The place that a position of the server means; it must lie between two characters of the text."""
        lines = self._lines(self.text)
        assert position.line < len(lines), f"no line {position.line}: there are {len(lines)}"
        line = lines[position.line].rstrip("\r\n")
        for column in range(len(line) + 1):
            if self._units(line[:column]) == position.character:
                return sum(map(len, lines[: position.line])) + column
        raise AssertionError(f"no place at {position.character} of {line!r}")

    def line_ends(self) -> set[str]:
        """The kinds of line end in the text."""
        return set(re.findall(r"\r\n|\r|\n", self.text))

    def _lines(self, text: str) -> list[str]:
        return _LINE_START.split(text)

    def _units(self, text: str) -> int:
        codec, n_bytes = _UNIT_BYTES[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // n_bytes
