"""Reading and sampling cases, with made-up files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.evaluation.cases import Case, CaseError, CaseSet, Kind, Program, read_cases, sample
from engine.evaluation.policy import POLICIES, finish

HUMANEVAL = {
    "task_id": "SingleLineInfilling/HumanEval/0/L0",
    "entry_point": "double",
    "prompt": "def double(x):\n",
    "suffix": "    return y\n",
    "canonical_solution": "    y = x * 2\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
}
HELD_OUT = {
    "kind": "rol",
    "pkg": "made_up",
    "path": "made_up/a.py",
    "offset": 7,
    "prefix": "import ",
    "middle": "os",
    "suffix": "\n",
    "R": 32,
    "ntok": 8,
}


def write(file: Path, *rows: Any) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


@pytest.mark.parametrize("name", ["HumanEval-SingleLineInfilling.jsonl", "HumanEval-SingleLineInfilling.jsonl.gz"])
@pytest.mark.parametrize("place", [lambda file: file, lambda file: file.parent])
def test_humaneval_is_read_from_a_file_or_a_folder(name: str, place: Callable[[Path], Path], tmp_path: Path) -> None:
    file = write(tmp_path / name, HUMANEVAL)
    (case,) = read_cases(CaseSet.SINGLE_LINE, [tmp_path / "missing", place(file)])
    assert case == Case(
        id="SingleLineInfilling/HumanEval/0/L0",
        kind=Kind.SINGLE_LINE,
        prefix="def double(x):\n",
        middle="    y = x * 2\n",
        suffix="    return y\n",
        program=Program(HUMANEVAL["test"], "double"),
    )


def test_a_program_is_prompt_completion_suffix_test_and_call(tmp_path: Path) -> None:
    (case,) = read_cases(CaseSet.SINGLE_LINE, [write(tmp_path / "any-name.jsonl", HUMANEVAL)])
    parts = [HUMANEVAL[key] for key in ("prompt", "canonical_solution", "suffix")]
    assert case.program_with(case.middle) == f"{''.join(parts)}\n{HUMANEVAL['test']}\ncheck(double)\n"


def test_held_out_cases_are_read_with_their_kinds(tmp_path: Path) -> None:
    rows = [HELD_OUT, {**HELD_OUT, "kind": "line", "offset": 8}, {**HELD_OUT, "kind": "block", "offset": 9}]
    cases = read_cases(CaseSet.HELD_OUT, [write(tmp_path / "eval_cases.jsonl.gz", *rows).parent])
    assert [case.kind for case in cases] == [Kind.REST_OF_LINE, Kind.LINE, Kind.BLOCK]
    assert cases[0].id == "made_up/made_up/a.py:7:rol"
    assert (cases[0].prefix, cases[0].middle, cases[0].suffix) == ("import ", "os", "\n")
    assert cases[0].program is None


@pytest.mark.parametrize("row", [{}, {**HELD_OUT, "kind": "page"}, [], "text"])
def test_a_wrong_row_is_named(row: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "eval_cases.jsonl", HELD_OUT, row)
    with pytest.raises(CaseError, match=r"eval_cases\.jsonl:2: not a case"):
        read_cases(CaseSet.HELD_OUT, [file])


@pytest.mark.parametrize("data", [b"not gzip", gzip.compress(b"x" * 100)[:-9], gzip.compress(b"\xff\n")])
def test_a_damaged_file_is_named(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "eval_cases.jsonl.gz"
    file.write_bytes(data)
    with pytest.raises(CaseError, match="eval_cases"):
        read_cases(CaseSet.HELD_OUT, [file])


def test_a_missing_set_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match="HumanEval-MultiLineInfilling"):
        read_cases(CaseSet.MULTI_LINE, [tmp_path])
    with pytest.raises(CaseError, match="no path given"):
        read_cases(CaseSet.MULTI_LINE, [])


def made(n: int) -> list[Case]:
    return [Case(f"{kind}{i}", kind, "", "", "") for kind in (Kind.LINE, Kind.BLOCK) for i in range(n)]


def test_a_sample_is_fixed_by_its_seed_and_grows_by_adding() -> None:
    cases = made(50)
    small, large = sample(cases, 10, 0), sample(reversed(cases), 20, 0)
    assert len(small) == 20 and len(large) == 40
    assert set(small) < set(large)
    assert set(small) != set(sample(cases, 10, 1))
    assert [case.kind for case in small].count(Kind.LINE) == 10
    assert len({case.kind for case in small[:8]}) == 2, "the kinds come mixed"
    assert len(sample(cases, 1000, 0)) == 100


@pytest.mark.parametrize(
    ("kind", "text", "finished"),
    [
        (Kind.SINGLE_LINE, "    y = 1", "    y = 1\n"),
        (Kind.MULTI_LINE, "a\nb\n", "a\nb\n"),
        (Kind.MULTI_LINE, "", "\n"),
        (Kind.RANDOM_SPAN, "a", "a"),
        (Kind.BLOCK, "a\nb", "a\nb"),
    ],
)
def test_only_holes_of_whole_lines_get_their_line_end_back(kind: Kind, text: str, finished: str) -> None:
    assert finish(Case("", kind, "", "", ""), text) == finished


def test_every_kind_has_a_policy_that_does_not_depend_on_the_case() -> None:
    assert set(POLICIES) == set(Kind)
