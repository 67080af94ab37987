"""Pieces of files that are found and quoted as a whole. Owns: where a text is cut into them. Must not know: files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import frozen

_SHORTEST, _LONGEST = 16, 32
_BLANK, _TOP = 1, 2


@frozen
class Chunk:
    """Lines `first` to `after`, without the last."""

    first: int
    after: int


def chunks_of(lines: Sequence[str]) -> Iterator[Chunk]:
    """Cut `lines` where new code begins at the left edge, else at blank lines, else wherever a chunk gets too long."""
    first = 0
    while first < len(lines):
        after = _end(lines, first)
        if any(line.strip() for line in lines[first:after]):
            yield Chunk(first, after)
        first = after


def _end(lines: Sequence[str], first: int) -> int:
    if len(lines) - first <= _LONGEST:
        return len(lines)
    candidates = range(first + _SHORTEST, first + _LONGEST + 1)
    return max(candidates, key=lambda after: (_worth(lines, after), after))


def _worth(lines: Sequence[str], after: int) -> int:
    before, line = lines[after - 1], lines[after]
    if before.strip():
        return 0
    return _TOP if line[:1].strip() else _BLANK
