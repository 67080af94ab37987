"""Cases: real holes with a known middle. Owns: reading them from files, and fixed samples of them.

Must not know: the engine, metrics. No case is part of this project: they are read from a path that the user names, or
rebuilt from packages (see `rebuild`).
"""

from __future__ import annotations

import enum
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import frozen


class CaseError(ValueError):
    """A set can't be read. The message names the file and what fits."""


class CaseSet(enum.StrEnum):
    """Sets of cases."""

    SINGLE_LINE = "humaneval-single-line"
    MULTI_LINE = "humaneval-multi-line"
    RANDOM_SPAN = "humaneval-random-span"
    HELD_OUT = "held-out"
    """From a file."""
    REBUILT = "held-out-rebuilt"
    """Cut anew from the held-out packages (see `rebuild`)."""
    SUFFIX = "held-out-suffix"
    """Cut from them where the suffix names something that the middle must define (see `suffix_decides`)."""
    REPAIR = "held-out-repair"
    """Lines of them with slips, to be mended (see `repair_cases`)."""

    @property
    def from_packages(self) -> bool:
        """Made from the held-out packages, not read from a file."""
        return self in (CaseSet.REBUILT, CaseSet.SUFFIX, CaseSet.REPAIR)

    @property
    def has_drafts(self) -> bool:
        """Something stands in the holes already."""
        return self is CaseSet.REPAIR


class Kind(enum.StrEnum):
    """What was cut out."""

    SINGLE_LINE = "single line"
    """One whole line with its line end."""
    MULTI_LINE = "lines"
    """Whole lines with their line ends."""
    RANDOM_SPAN = "random span"
    REST_OF_LINE = "rest of line"
    LINE = "line"
    """One line's text, without its indentation and line end."""
    BLOCK = "block"
    """2 to 4 lines, without the first one's indentation and the last one's line end."""
    NO_SLIP = "no slip"
    """A line that stands there as it should be."""
    ONE_SLIP = "1 slip"
    TWO_SLIPS = "2 slips"
    THREE_SLIPS = "3 slips"
    FOUR_SLIPS = "4 slips"

    @property
    def whole_lines(self) -> bool:
        """Whether the hole takes the last line's end with it."""
        return self in (Kind.SINGLE_LINE, Kind.MULTI_LINE)


@frozen
class Program:
    """How to test a HumanEval completion."""

    test: str
    entry_point: str


@frozen
class Case:
    """One hole."""

    id: str
    kind: Kind
    prefix: str
    middle: str
    suffix: str
    path: str = ""
    program: Program | None = None
    draft: str = ""
    """What stands in the hole, to be mended; empty where nothing does."""

    def program_with(self, text: str) -> str:
        """Source that ends without an error when `text` in the hole passes the tests. Only with `program`."""
        assert self.program is not None
        tests = f"{self.program.test}\ncheck({self.program.entry_point})\n"
        return f"{self.prefix}{text}{self.suffix}\n{tests}"


FILE_NAMES: Final = {
    CaseSet.SINGLE_LINE: "HumanEval-SingleLineInfilling.jsonl",
    CaseSet.MULTI_LINE: "HumanEval-MultiLineInfilling.jsonl",
    CaseSet.RANDOM_SPAN: "HumanEval-RandomSpanInfillingLight.jsonl",
    CaseSet.HELD_OUT: "eval_cases.jsonl",
}
_HUMANEVAL: Final = {
    CaseSet.SINGLE_LINE: Kind.SINGLE_LINE,
    CaseSet.MULTI_LINE: Kind.MULTI_LINE,
    CaseSet.RANDOM_SPAN: Kind.RANDOM_SPAN,
}
_HELD_OUT: Final = {"rol": Kind.REST_OF_LINE, "line": Kind.LINE, "block": Kind.BLOCK}


def read_cases(case_set: CaseSet, paths: Iterable[Path]) -> list[Case]:
    """Read a set from the first of `paths` (files, or folders with files of the usual names) that has it."""
    name = FILE_NAMES[case_set]
    places = list(paths)
    for place in places:
        for file in (place / name, place / f"{name}.gz", place):
            if file.is_file() and file.name.removesuffix(".gz") == name:
                return list(_read(case_set, file))
    if len(places) == 1 and places[0].is_file():  # named differently: the user has said what it is
        return list(_read(case_set, places[0]))
    looked = ", ".join(map(str, places)) or "no path given"
    raise CaseError(f"{case_set}: no {name} or {name}.gz found ({looked})")


def sample(cases: Iterable[Case], n: int, seed: int) -> list[Case]:
    """`n` cases of each kind, the same for every model and machine; a smaller `n` gives a part of a larger one's.

    The kinds come mixed, so that a run that was ended early has some of each.
    """

    def rank(case: Case) -> str:
        return hashlib.sha256(f"{seed}:{case.id}".encode()).hexdigest()

    left = dict.fromkeys(Kind, n)
    chosen = []
    for case in sorted(cases, key=rank):
        if left[case.kind]:
            left[case.kind] -= 1
            chosen.append(case)
    return chosen


def _read(case_set: CaseSet, file: Path) -> Iterator[Case]:
    make: Callable[[dict[str, Any]], Case]
    if case_set is CaseSet.HELD_OUT:
        make = _held_out
    else:
        kind = _HUMANEVAL[case_set]

        def make(row: dict[str, Any]) -> Case:
            return _humaneval(row, kind)

    try:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield make(json.loads(line))
                    except (KeyError, TypeError, ValueError) as error:
                        told = f"{type(error).__name__}: {error}"
                        raise CaseError(f"{file}:{number}: not a case of {case_set} ({told})") from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise CaseError(f"{file}: {error}") from None


def _humaneval(row: dict[str, Any], kind: Kind) -> Case:
    program = Program(test=row["test"], entry_point=row["entry_point"])
    return Case(row["task_id"], kind, row["prompt"], row["canonical_solution"], row["suffix"], program=program)


def _held_out(row: dict[str, Any]) -> Case:
    case_id = f"{row['pkg']}/{row['path']}:{row['offset']}:{row['kind']}"
    return Case(case_id, _HELD_OUT[row["kind"]], row["prefix"], row["middle"], row["suffix"], path=row["path"])
