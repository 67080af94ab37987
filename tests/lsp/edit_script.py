r"""Random edits, and the text that a client keeps of them. Owns: an independent model of LSP's text synchronization.

It works on the whole text as bytes of the negotiated encoding, in the plainest way: no lines kept, nothing cached.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Final

import attrs
from lsprotocol import types
from lsprotocol.types import PositionEncodingKind as Encoding

_CODECS: Final = {Encoding.Utf8: ("utf-8", 1), Encoding.Utf16: ("utf-16-le", 2), Encoding.Utf32: ("utf-32-le", 4)}
_PIECES: Final = (
    *("a", "b", " ", "\t", "(", "é", "e\u0301", "\u0301", "中", "\u2028", "\x0c", "\x0b", "\x85", "\x1c", "\x01"),
    *("😀", "𝕏", "👩‍👩‍👧", "\U0010ffff", "\uffff", "\ufeff", "\ud83d"),
    *("\n", "\r\n", "\r", "\n\r", "\r\r\n"),
)
Change = types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument


@attrs.define
class ClientText:
    """A document as its client has it."""

    encoding: Encoding
    data: bytes

    @classmethod
    def of(cls, text: str, encoding: Encoding) -> ClientText:
        """From a text."""
        return cls(encoding, text.encode(_CODECS[encoding][0], "surrogatepass"))

    @property
    def text(self) -> str:
        """The whole text."""
        return self.data.decode(_CODECS[self.encoding][0], "surrogatepass")

    def offset(self, position: types.Position) -> int:
        """Bytes before a position. Beyond a line's end means its end, inside a character its start."""
        codec, width = _CODECS[self.encoding]
        ends = [match.span() for match in re.finditer("\r\n|\r|\n", self.text)]
        starts = [0, *(end for _, end in ends)]
        if position.line >= len(starts):
            return len(self.data)
        start = starts[position.line]
        end = ends[position.line][0] if position.line < len(ends) else len(self.text)
        n_before = len(self.text[:start].encode(codec, "surrogatepass"))
        line = self.text[start:end].encode(codec, "surrogatepass")
        n = min(position.character * width, len(line))
        while not _is_boundary(line, n, self.encoding):
            n -= width
        return n_before + n

    def apply(self, change: Change) -> None:
        """Apply one change."""
        new = change.text.encode(_CODECS[self.encoding][0], "surrogatepass")
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            self.data = new
            return
        start, end = self.offset(change.range.start), self.offset(change.range.end)
        self.data = self.data[:start] + new + self.data[max(start, end) :]


def _is_boundary(line: bytes, n: int, encoding: Encoding) -> bool:
    if n == len(line):
        return True
    if encoding is Encoding.Utf8:
        return not 0x80 <= line[n] < 0xC0
    if encoding is Encoding.Utf16:
        low = 0xDC00 <= int.from_bytes(line[n : n + 2], "little") < 0xE000
        high = n >= 2 and 0xD800 <= int.from_bytes(line[n - 2 : n], "little") < 0xDC00
        return not (low and high)
    return True


def some_text(rng: random.Random, most: int) -> str:
    """A text of up to `most` pieces."""
    return "".join(rng.choices(_PIECES, k=rng.randint(0, most)))


def some_position(rng: random.Random) -> types.Position:
    """A place in a small document, or inside a character, or beyond an end."""
    line = rng.choice((0, 0, 1, 2, 3, 5, 8, 1000))
    return types.Position(line, rng.choice((0, 1, 2, 3, 4, 5, 7, 10, 15, 10**9)))


def some_change(rng: random.Random) -> Change:
    """Mostly typing, deleting and replacing; sometimes a whole new text."""
    if rng.randrange(40) == 0:
        return types.TextDocumentContentChangeWholeDocument(some_text(rng, 40))
    start = some_position(rng)
    end = start if rng.randrange(3) == 0 else some_position(rng)
    if (end.line, end.character) < (start.line, start.character) and rng.randrange(20):  # else: an insertion
        start, end = end, start
    return types.TextDocumentContentChangePartial(types.Range(start, end), some_text(rng, 6))


def some_changes(rng: random.Random) -> Sequence[Change]:
    """Those of one notification."""
    return [some_change(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
