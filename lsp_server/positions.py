"""Columns in a client's units and in code points. Owns: the arithmetic of utf-8, utf-16 and utf-32 columns.

Must not know: documents, pygls. pygls' own codec rounds a position inside a character to the right and moves one
beyond the line's end in front of its last character; here both clamp to the left, as clients expect.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen
from lsprotocol.types import PositionEncodingKind

_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_CONTINUATION_MASK, _CONTINUATION = 0xC0, 0x80


@frozen(order=True)
class Point:
    """A place in a document, counted in code points."""

    line: int
    column: int


def column_at(line: str, units: int, encoding: PositionEncodingKind) -> int:
    """The column in code points of `units` code units; inside a character: its start; beyond the end: the end."""
    if encoding is PositionEncodingKind.Utf32 or line.isascii():
        return min(max(units, 0), len(line))
    # A character has at least one unit, so what lies beyond can't matter: long lines stay cheap.
    units = max(units, 0)
    head = line[:units]
    if encoding is PositionEncodingKind.Utf8:
        return _column_of_bytes(head, units)
    if _units(head) == len(head):  # no pairs: by far the usual case, and much quicker found out than by looking
        return min(units, len(line))
    n_astral = 0
    for match in _ASTRAL.finditer(head):
        if units < match.start() + n_astral + 2:  # the target lies before or inside this pair
            return min(units - n_astral, match.start())
        n_astral += 1
    return min(units - n_astral, len(line))


def units_at(line: str, column: int, encoding: PositionEncodingKind) -> int:
    """The code units before `column`, which is counted in code points."""
    if encoding is PositionEncodingKind.Utf32 or line.isascii():
        return min(column, len(line))
    head = line[:column]
    if encoding is PositionEncodingKind.Utf8:
        return len(head.encode("utf-8", "surrogatepass"))
    return _units(head)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _column_of_bytes(head: str, units: int) -> int:
    data = head.encode("utf-8", "surrogatepass")
    end = min(units, len(data))
    while 0 < end < len(data) and data[end] & _CONTINUATION_MASK == _CONTINUATION:
        end -= 1
    return len(data[:end].decode("utf-8", "surrogatepass"))
