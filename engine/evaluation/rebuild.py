"""Held-out cases, rebuilt from published packages. Owns: which packages, where the cuts fall.

The packages are read as archives or files, never imported. No training of the bundled model saw them, and no sampler
setting may be chosen on them. Same seed and same packages, same cases.
"""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from attrs import frozen

from engine.evaluation.cases import Case, Kind

MAX_PREFIX: Final = 12_000
MAX_SUFFIX: Final = 2_000
POOL: Final = 300
"""Cases of each kind, from which a sample is drawn."""
_LONGEST: Final = {Kind.REST_OF_LINE: 100, Kind.LINE: 100, Kind.BLOCK: 240}
"""Characters of the middle at most: about what fits the smallest model's region."""
_SHORTEST: Final = 4


@frozen
class Source:
    """One file of a package."""

    package: str
    path: str
    text: str


Wanted = Callable[[str, int, int], bool]
"""Whether a hole is wanted: a file's text, where the hole starts, where it ends."""


def held_out_cases(sources: Sequence[Source], seed: int, wanted: Wanted | None = None) -> list[Case]:
    """Up to `POOL` cases of each kind; a third of the rest-of-line cuts fall inside words."""
    files = [_File.of(source) for source in sorted(sources, key=lambda one: (one.package, one.path))]
    cases: list[Case] = []
    for kind in (Kind.REST_OF_LINE, Kind.LINE, Kind.BLOCK):
        rng = random.Random(f"{seed}:{kind}")  # a string seeds the same way on every machine
        places = [(file, line) for file in files for line in file.code_lines]
        rng.shuffle(places)
        found = _cuts(places, kind, rng, wanted)
        cases += itertools.islice(found, POOL)
    return cases


@frozen
class _File:
    """A file cut into lines, with what can be cut out."""

    source: Source
    lines: tuple[str, ...]
    starts: tuple[int, ...]
    """Offset of each line."""
    code_lines: tuple[int, ...]
    """Indexes of lines with code: not blank, no comment, not within a text of several lines."""

    @classmethod
    def of(cls, source: Source) -> _File:
        lines = source.text.split("\n")
        starts, offset = [], 0
        for line in lines:
            starts.append(offset)
            offset += len(line) + 1
        texts = set(_lines_of_long_texts(source.text))
        code = [
            i
            for i, line in enumerate(lines)
            if len(line.strip()) >= _SHORTEST and not line.lstrip().startswith("#") and i not in texts
        ]
        return cls(source, tuple(lines), tuple(starts), tuple(code))

    def case(self, kind: Kind, start: int, end: int) -> Case | None:
        text = self.source.text
        middle = text[start:end]
        if len(middle.strip()) < _SHORTEST or len(middle) > _LONGEST[kind]:
            return None
        case_id = f"{self.source.package}/{self.source.path}:{start}:{kind}"
        prefix, suffix = text[max(0, start - MAX_PREFIX) : start], text[end : end + MAX_SUFFIX]
        return Case(case_id, kind, prefix, middle, suffix, path=self.source.path)


def _lines_of_long_texts(text: str) -> Iterator[int]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        if is_text and isinstance(node, ast.expr) and node.end_lineno and node.end_lineno > node.lineno:
            yield from range(node.lineno - 1, node.end_lineno)


def _cuts(places: Sequence[tuple[_File, int]], kind: Kind, rng: random.Random, wanted: Wanted | None) -> Iterator[Case]:
    n_made = 0
    for file, index in places:
        line = file.lines[index]
        indent = len(line) - len(line.lstrip())
        start, last = file.starts[index] + indent, index
        if kind is Kind.REST_OF_LINE:
            columns = _columns(line, indent, in_word=n_made % 3 == 0)
            if not columns:
                continue
            start = file.starts[index] + rng.choice(columns)
        elif kind is Kind.BLOCK:
            last = index + rng.randint(1, 3)
            if not set(range(index, last + 1)) <= set(file.code_lines):
                continue
        end = file.starts[last] + len(file.lines[last])
        case = file.case(kind, start, end)
        if case is not None and (wanted is None or wanted(file.source.text, start, end)):
            n_made += 1
            yield case


def _columns(line: str, indent: int, *, in_word: bool) -> list[int]:
    """Where the line can be cut: inside words, or everywhere else."""

    def inside(column: int) -> bool:
        return all(c.isalnum() or c == "_" for c in line[column - 1 : column + 1])

    return [column for column in range(indent + 1, len(line) - _SHORTEST + 1) if inside(column) == in_word]
