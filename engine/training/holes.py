"""Holes in a source text, as an editor asks for them. Owns: their kinds, how often, and where the cuts fall.

Pure: a text and a generator of random numbers. Must not know: tokens, models, files.
"""

from __future__ import annotations

import enum
import random
import re
from typing import Final

from attrs import field, frozen
from attrs.validators import ge, le

from engine.training.code_lines import CodeLines

SUFFIX_CHARACTERS: Final = 2_000
"""Text behind a hole that is kept: more than any prompt quotes."""
_TRIES: Final = 8
_PROSE: Final = 0.1
"""Share of holes in comments and docstrings: there is more of them in code, and less is asked for there."""
_BETWEEN_WORDS: Final = 0.4
"""Share of cursors that are put where a word begins or ends; most of the others fall inside words."""
_LONG_BLOCK: Final = 0.15
_LONGEST_SPAN: Final = 60
_INSIDE: Final = re.compile(r"""\(([^()]+)\)|\[([^\[\]]+)\]|\{([^{}]+)\}|"([^"]+)"|'([^']+)'""")
"""What an editor's automatic closing leaves the cursor in."""
_WORD_EDGE: Final = re.compile(r"\b|(?<=\W)(?=\W)")


class HoleKind(enum.StrEnum):
    """What is missing."""

    REST_OF_LINE = "rest of line"
    SPAN = "span"
    """A part of one line, with more of the line behind it."""
    LINE = "line"
    BLOCK = "block"
    """Several lines."""
    EMPTY = "empty"
    """Nothing: the text is whole as it is."""


_SHARE: Final = [ge(0.0), le(1.0)]


@frozen
class HoleShares:
    """How often each kind is drawn."""

    rest_of_line: float = field(default=0.40, validator=_SHARE)
    span: float = field(default=0.10, validator=_SHARE)
    line: float = field(default=0.22, validator=_SHARE)
    block: float = field(default=0.25, validator=_SHARE)
    empty: float = field(default=0.03, validator=_SHARE)

    def draw(self, rng: random.Random) -> HoleKind:
        """A kind."""
        kinds = list(HoleKind)
        return rng.choices(kinds, [getattr(self, kind.name.lower()) for kind in kinds])[0]


@frozen
class Hole:
    """One hole and the text around it."""

    kind: HoleKind
    prefix: str
    """All text before it."""
    middle: str
    suffix: str
    path: str


def cut(lines: CodeLines, path: str, kind: HoleKind, rng: random.Random) -> Hole | None:
    """A hole of this kind anywhere in the file; None where no place fits."""
    for _ in range(_TRIES):
        places = lines.prose if lines.prose and rng.random() < _PROSE else lines.code
        if not places:
            return None
        cuts = _CUTS[kind](lines, rng.choice(places), rng)
        if cuts is not None:
            start, end = cuts
            text = lines.text
            return Hole(kind, text[:start], text[start:end], text[end : end + SUFFIX_CHARACTERS], path)
    return None


Cuts = tuple[int, int] | None
"""Offsets where the middle starts and ends."""


def _rest_of_line(lines: CodeLines, number: int, rng: random.Random) -> Cuts:
    left, right = lines.body(number)
    column = _column(lines.lines[number], left + 1, right - 1, rng)
    return None if column is None else (lines.starts[number] + column, lines.starts[number] + right)


def _span(lines: CodeLines, number: int, rng: random.Random) -> Cuts:
    line = lines.lines[number]
    left, right = lines.body(number)
    closed = [match.span(match.lastindex or 0) for match in _INSIDE.finditer(line, left, right)]
    if closed and rng.random() < 0.5:
        start, end = rng.choice(closed)
        if end - start > 2 and rng.random() < 0.5:  # something stands in the brackets already
            start = rng.randrange(start, end)
    else:
        first = _column(line, left, right - 2, rng)
        if first is None:
            return None
        last = _column(line, first + 1, min(right - 1, first + _LONGEST_SPAN), rng)
        if last is None:
            return None
        start, end = first, last
    return lines.starts[number] + start, lines.starts[number] + end


def _line(lines: CodeLines, number: int, rng: random.Random) -> Cuts:
    return _whole(lines, number, number, rng)


def _block(lines: CodeLines, number: int, rng: random.Random) -> Cuts:
    is_long = rng.random() < _LONG_BLOCK
    last = number + (rng.randint(4, 9) if is_long else rng.randint(1, 3))
    if last >= len(lines.lines):
        return None
    inner = lines.lines[number + 1 : last + 1]
    if not inner[-1].strip() or not (is_long or all(line.strip() for line in inner)):
        return None
    place = rng.random()
    if place < 0.15:  # the cursor stands in a line, and more lines are missing behind it
        left, right = lines.body(number)
        column = _column(lines.lines[number], left + 1, right, rng)
        return None if column is None else (lines.starts[number] + column, _end(lines, last))
    if place < 0.3 and number:  # the cursor still stands behind the line before
        return _end(lines, number - 1), _end(lines, last)
    return _whole(lines, number, last, rng)


def _whole(lines: CodeLines, first: int, last: int, rng: random.Random) -> Cuts:
    """Whole lines: mostly the cursor stands behind the indentation, at times at the left edge."""
    edge, place = lines.starts[first], rng.random()
    if place < 0.1 and last + 1 < len(lines.lines):
        return edge, lines.starts[last + 1]
    return edge if place < 0.2 else edge + lines.body(first)[0], _end(lines, last)


def _empty(lines: CodeLines, number: int, rng: random.Random) -> Cuts:
    left, right = lines.body(number)
    column = right if rng.random() < 0.7 else _column(lines.lines[number], left, right, rng)
    return None if column is None else (lines.starts[number] + column,) * 2


def _end(lines: CodeLines, number: int) -> int:
    """Behind a line's last character that is no blank."""
    return lines.starts[number] + lines.body(number)[1]


def _column(line: str, first: int, last: int, rng: random.Random) -> int | None:
    """A column from `first` to `last`."""
    if first > last:
        return None
    if rng.random() < _BETWEEN_WORDS:
        edges = [match.start() for match in _WORD_EDGE.finditer(line, first, last + 1) if match.start() <= last]
        if edges:
            return rng.choice(edges)
    return rng.randint(first, last)


_CUTS: Final = {
    HoleKind.REST_OF_LINE: _rest_of_line,
    HoleKind.SPAN: _span,
    HoleKind.LINE: _line,
    HoleKind.BLOCK: _block,
    HoleKind.EMPTY: _empty,
}
