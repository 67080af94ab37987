"""A region's tokens as text. Owns: where a region's text ends, and its spans. Must not know: models, samplers."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from engine.denoisers.boundary import Boundary
from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Span


@frozen
class RegionText:
    """What a region reads as."""

    text: str
    n_tokens: int
    """Tokens that the text was made of."""
    whole: bool
    """False: bytes that are no text had to be left out of it. Fit for a frame, not for an answer."""


class RegionReader:
    """Reads the regions of one fill."""

    def __init__(self, vocabulary: Vocabulary, heal: bytes, end: frozenset[int], boundary: Boundary) -> None:
        """`heal`: text before the region that its tokens begin with. `end`: tokens behind its text."""
        self._vocabulary, self._heal, self._end, self.boundary = vocabulary, heal, end, boundary

    def is_whole(self, tokens: Sequence[int]) -> bool:
        """The text is at its end: an end token or the boundary has been reached."""
        if tokens and tokens[-1] in self._end:
            return True
        data = self._without_heal(self._vocabulary.decode(tokens))
        return self.boundary.cut(data, complete=False) != data

    def length(self, tokens: Sequence[int]) -> int:
        """Tokens before the first end token."""
        return next((i for i, token in enumerate(tokens) if token in self._end), len(tokens))

    def text(self, tokens: Sequence[int]) -> RegionText:
        """The text that an editor may insert at the cursor."""
        n = self.length(tokens)
        data = self.boundary.cut(self._without_heal(self._vocabulary.decode(tokens[:n])), complete=True)
        text, carry = _complete(data)  # a budget may end inside a character: the answer ends before it
        return RegionText(text, n, text.encode() + carry == data)

    def unfinished(self, tokens: Sequence[int]) -> RegionText:
        """The same of a region that is still being made, of which `tokens` are settled: its whole lines only.

        Half a line is no answer: nobody wants to complete by hand what was cut anywhere. May be empty.
        """
        if self.length(tokens) < len(tokens) or self.is_whole(tokens):
            return self.text(tokens)
        data = self.boundary.whole_lines(self._without_heal(self._vocabulary.decode(tokens)))
        text, _ = _complete(data)
        return RegionText(text, len(tokens), text.encode() == data)

    def spans(self, tokens: Sequence[int], settled: Sequence[bool]) -> tuple[Span, ...]:
        """The same text in runs of settled and tentative tokens. A character split between tokens goes to the later."""
        n = self.length(tokens)
        whole = self.boundary.cut(self._without_heal(self._vocabulary.decode(tokens[:n])), complete=False)
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
