"""A Python file as lines that holes are cut into. Owns: which lines are code and which are prose.

Must not know: holes, tokens.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

_STRING: Final = re.compile(
    r"(?P<quotes>\"{3}|'{3})(?:\\.|[^\\])*?(?P=quotes)"
    r"|\"(?:\\.|[^\"\\\n])*\""
    r"|'(?:\\.|[^'\\\n])*'"
    r"|\#[^\n]*",
    re.DOTALL,
)
"""A string or a comment: found in order, so that neither is looked for inside the other. No parser: files that are
being written are seldom whole, and it takes a small part of the time."""
_STRING_PREFIXES: Final = ("", "r", "u", "b", "f", "br", "rb", "fr", "rf")


@frozen
class CodeLines:
    """One file, every line end as a line feed."""

    text: str
    lines: tuple[str, ...]
    """Without their ends."""
    starts: tuple[int, ...]
    """Offset of each line."""
    code: tuple[int, ...]
    """Numbers of lines with code."""
    prose: tuple[int, ...]
    """Numbers of lines that are a comment, or part of a docstring or another string of several lines."""

    @classmethod
    def of(cls, text: str) -> CodeLines:
        """Of any text, whole or not."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = tuple(text.split("\n"))
        starts, offset = [], 0
        for line in lines:
            starts.append(offset)
            offset += len(line) + 1
        in_strings = set(_lines_of_strings(text, starts))
        code: list[int] = []
        prose: list[int] = []
        for number, line in enumerate(lines):
            if stripped := line.strip():
                is_prose = number in in_strings or stripped.startswith("#")
                (prose if is_prose else code).append(number)
        return cls(text, lines, tuple(starts), tuple(code), tuple(prose))

    def body(self, number: int) -> tuple[int, int]:
        """Columns of a line between its indentation and its trailing blanks."""
        line = self.lines[number]
        return len(line) - len(line.lstrip()), len(line.rstrip())


def _lines_of_strings(text: str, starts: Sequence[int]) -> Iterator[int]:
    """Lines of triple-quoted strings that span several, or that begin their line."""
    for match in _STRING.finditer(text):
        if match["quotes"]:
            first, last = (bisect.bisect(starts, offset) - 1 for offset in (match.start(), match.end() - 1))
            before = text[starts[first] : match.start()].strip()
            if last > first or before.lower() in _STRING_PREFIXES:
                yield from range(first, last + 1)
