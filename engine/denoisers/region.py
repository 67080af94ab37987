"""A region's tokens as text. Owns: where a region's text ends, and its spans. Must not know: models, samplers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Span

_ECHO_CHARACTERS: Final = 12
"""Visible characters of the suffix that must be repeated before they count as the suffix itself."""
_NEAR: Final = 4000
"""Characters on either side that are looked at."""


@frozen
class RegionText:
    """What a region reads as."""

    text: str
    n_tokens: int
    """Tokens that the text was made of."""
    whole: bool
    """False: bytes that are no text had to be left out of it. Fit for a frame, not for an answer."""
    n_lines: int


class RegionReader:
    """Reads the regions of one fill."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        heal: bytes,
        end: frozenset[int],
        max_lines: int = 0,
        prefix: str = "",
        suffix: str = "",
    ) -> None:
        """`heal`: text before the region that its tokens begin with. `end`: tokens behind its text. `prefix`, `suffix`:
        the text on either side; a model that goes on with the suffix, or leaves the block of both, has left the region.
        """
        self._vocabulary, self._heal, self._end, self._max_lines = vocabulary, heal, end, max_lines
        self._echo = echo_of(suffix).encode("utf-8", "replace")
        self._depth = block_depth(prefix, suffix)
        self._last_line_end = b"" if suffix.startswith("\n") else b"\n"

    def is_whole(self, tokens: Sequence[int]) -> bool:
        """The text is at its end: an end token, the last allowed line, or the suffix has been reached."""
        if tokens and tokens[-1] in self._end:
            return True
        data = self._without_heal(self._vocabulary.decode(tokens))
        return len(self._cut(data)) < len(data)

    def length(self, tokens: Sequence[int]) -> int:
        """Tokens before the first end token."""
        return next((i for i, token in enumerate(tokens) if token in self._end), len(tokens))

    def text(self, tokens: Sequence[int]) -> RegionText:
        """The text that an editor may insert at the cursor."""
        n = self.length(tokens)
        data = self._cut(self._without_heal(self._vocabulary.decode(tokens[:n])))
        text, carry = _complete(data)  # a budget may end inside a character: the answer ends before it
        return RegionText(text, n, text.encode() + carry == data, text.count("\n") + 1)

    def spans(self, tokens: Sequence[int], settled: Sequence[bool]) -> tuple[Span, ...]:
        """The same text in runs of settled and tentative tokens. A character split between tokens goes to the later."""
        n = self.length(tokens)
        whole = self._cut(self._without_heal(self._vocabulary.decode(tokens[:n])))
        spans: list[Span] = []
        position, carry = -len(self._heal), b""
        for token, is_settled in zip(tokens[:n], settled[:n], strict=True):
            piece = self._vocabulary.decode((token,))
            start, position = max(position, 0), position + len(piece)
            data = carry + whole[start : max(position, 0)]
            text, carry = _complete(data)
            if text and spans and spans[-1].settled == is_settled:
                spans[-1] = Span(spans[-1].text + text, is_settled)
            elif text:
                spans.append(Span(text, is_settled))
        return tuple(spans)

    def _without_heal(self, data: bytes) -> bytes:
        return data[len(self._heal) :]

    def _cut(self, data: bytes) -> bytes:
        """Nothing behind the last allowed line, and nothing that the suffix says already."""
        if self._max_lines:
            data = b"\n".join(data.split(b"\n")[: self._max_lines])
        if self._echo and (start := data.find(self._echo)) >= 0:
            data = data[:start]
        if self._depth and b"\n" in data:
            data = self._within_block(data)
        return data

    def _within_block(self, data: bytes) -> bytes:
        """Up to the first line that is indented less than both sides: the suffix goes on with a block that it ends."""
        end = data.find(b"\n") + 1
        while end:
            newline = data.find(b"\n", end)
            line = data[end : newline if newline >= 0 else len(data)]
            if line.strip() and _indent(line.decode("utf-8", "replace")) < self._depth:
                return data[:end].rstrip() + self._last_line_end
            end = newline + 1
        return data


def block_depth(prefix: str, suffix: str) -> int:
    """Columns that every further line of the region is indented by at least; 0: any will do.

    The lesser indentation of the prefix's last line and the suffix's first whole one. A shallower line between the two
    would end the block that the suffix goes on with.
    """
    before = next((line for line in reversed(prefix[-_NEAR:].split("\n")) if line.strip()), "")
    rest, _, after = suffix[:_NEAR].partition("\n")
    lines = after.split("\n") if rest.strip() and not _at_line_start(prefix) else suffix[:_NEAR].split("\n")
    first = next((line for line in lines if line.strip()), "")
    return min(_indent(before), _indent(first))


def _at_line_start(prefix: str) -> bool:
    return not prefix or prefix.endswith("\n")


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip(" "))


def echo_of(suffix: str) -> str:
    """The beginning of `suffix` that can't be there by chance: whole lines, with a dozen visible characters at least.

    Empty when the suffix has less than that.
    """
    visible = 0
    suffix = suffix[:_NEAR]
    for line in re.finditer(r"[^\n]*\n|[^\n]+$", suffix):
        visible += len("".join(line[0].split()))
        if visible >= _ECHO_CHARACTERS:
            return suffix[: line.end()]
    return ""


def _complete(data: bytes) -> tuple[str, bytes]:
    """Text of `data` without bytes that are none, and the beginning of a character at its end."""
    for n in range(1, min(4, len(data) + 1)):
        lead = data[-n]
        if lead >= 0xC0:
            expected = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            if n < expected:
                return data[:-n].decode("utf-8", "ignore"), data[-n:]
            break
        if lead < 0x80:
            break
    return data.decode("utf-8", "ignore"), b""
