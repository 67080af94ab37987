"""Baselines: what costs nothing. Anything called a model has to beat them. Must not know: the engine."""

from __future__ import annotations

from typing import Final

from engine.evaluation.cases import Case, Kind

_LEAST_MATCH: Final = 4
_LOOK_BACK: Final = 12_000
"""Characters of the prefix that are searched."""
_LINES: Final = {Kind.BLOCK: 3, Kind.MULTI_LINE: 3}


def empty(case: Case) -> str:
    """Nothing."""
    return ""


def as_it_stands(case: Case) -> str:
    """What stands in the hole, slips and all."""
    return case.draft


def copy_from_buffer(case: Case) -> str:
    """What followed the longest earlier match of the prefix's tail, to the end of the line; 3 lines for a block."""
    buffer = case.prefix[-_LOOK_BACK:]
    end = _end_of_match(buffer)
    if end is None:
        return ""
    lines = buffer[end:].split("\n")
    return "\n".join(lines[: _LINES.get(case.kind, 1)])


def _end_of_match(buffer: str) -> int | None:
    """Where the longest earlier copy of the buffer's tail ends; the latest one of several as long."""
    length, found = _LEAST_MATCH, None
    while length < len(buffer):
        start = buffer.rfind(buffer[-length:], 0, len(buffer) - 1)
        if start < 0:
            return found
        found = start + length
        while length < found and buffer[found - length - 1] == buffer[-length - 1]:  # grow this match while it holds
            length += 1
        length += 1
    return found
