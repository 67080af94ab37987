"""A text on its way into a document, each character settled or tentative. Must not know: places, rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from attrs import frozen

from engine.protocol import Span


class Edit(NamedTuple):
    """Characters `start` to `stop` are to become `text`."""

    start: int
    stop: int
    text: str


@frozen
class Draft:
    """Text and flags. One form for frames and final texts, so that a rule can't treat them differently."""

    text: str
    flags: bytes
    """One for each character: 1 where it is settled."""

    @classmethod
    def of(cls, spans: Iterable[Span]) -> Draft:
        """The text of spans."""
        spans = tuple(spans)
        flags = b"".join((b"\1" if span.settled else b"\0") * len(span.text) for span in spans)
        return cls("".join(span.text for span in spans), flags)

    def part(self, start: int, stop: int) -> Draft:
        """The characters from `start` to `stop`."""
        return Draft(self.text[start:stop], self.flags[start:stop])

    def replaced(self, edits: Sequence[Edit]) -> Draft:
        """After some edits, in order. New characters are as settled as the character behind them."""
        texts: list[str] = []
        flags: list[bytes] = []
        done = 0
        for start, stop, text in edits:
            texts += self.text[done:start], text
            behind = self.flags[stop : stop + 1] or self.flags[-1:]
            flags += self.flags[done:start], behind * len(text)
            done = stop
        return Draft("".join(texts) + self.text[done:], b"".join(flags) + self.flags[done:])

    def spans(self) -> tuple[Span, ...]:
        """As spans, neighbours of one kind joined."""
        spans: list[Span] = []
        done = 0
        for flag, run in groupby(self.flags):
            stop = done + len(list(run))
            spans.append(Span(self.text[done:stop], settled=bool(flag)))
            done = stop
        return tuple(spans)
