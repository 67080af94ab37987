"""A Python file as lines that holes are cut into. Owns: which lines are code and which are prose.

Must not know: holes, tokens.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from attrs import frozen


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
    """Numbers of lines that are a comment, or part of a string of several lines (mostly docstrings)."""

    @classmethod
    def of(cls, text: str) -> CodeLines:
        """Any text: where it is no Python, only comments are prose."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = tuple(text.split("\n"))
        starts, offset = [], 0
        for line in lines:
            starts.append(offset)
            offset += len(line) + 1
        in_strings = set(_lines_of_long_strings(text))
        code, prose = [], []
        for number, line in enumerate(lines):
            if stripped := line.strip():
                is_prose = number in in_strings or stripped.startswith("#")
                (prose if is_prose else code).append(number)
        return cls(text, lines, tuple(starts), tuple(code), tuple(prose))

    def body(self, number: int) -> tuple[int, int]:
        """Columns of a line between its indentation and its trailing blanks."""
        line = self.lines[number]
        return len(line) - len(line.lstrip()), len(line.rstrip())


def _lines_of_long_strings(text: str) -> Iterator[int]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's own: an odd escape, a comparison of literals
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        if is_text and isinstance(node, ast.expr) and node.end_lineno and node.end_lineno > node.lineno:
            yield from range(node.lineno - 1, node.end_lineno)
