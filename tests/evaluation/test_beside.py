"""One model beside another, case by case."""

from __future__ import annotations

import attrs
import pytest

from engine.evaluation.beside import Pairs, beside_table, pairs
from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.records import About, Record, RecordError
from tests.evaluation.test_report import RECORD


def records(right: str, kind: Kind = Kind.LINE) -> dict[str, Record]:
    """One record for each letter: `+` right, `-` wrong."""
    return {
        f"{kind}{i}": attrs.evolve(
            RECORD, case_set=CaseSet.HELD_OUT, kind=kind, case_id=f"{kind}{i}", exact=one == "+", text=one
        )
        for i, one in enumerate(right)
    }


def test_only_cases_that_both_hold_are_compared() -> None:
    found = pairs(records("++-+"), records("+-+"))
    assert found == Pairs(n=3, n_right=2, n_only=1, n_only_other=1, n_same=1)
    assert found.difference == 0
    assert found.spread == pytest.approx(1.96 * 2**0.5 / 3, rel=1e-3)
    assert pairs(records("+"), {}) is None
    alike = pairs(records("+-"), records("+-"))
    assert alike is not None and (alike.difference, alike.spread, alike.n_same) == (0, 0, 2)


def test_the_table_names_rows_by_their_labels() -> None:
    both = {**records("+-", Kind.LINE), **records("++", Kind.BLOCK)}
    everyone = [
        (About("big", False), {CaseSet.HELD_OUT: both}),
        (About("big", False, variant="no copies"), {CaseSet.HELD_OUT: {**both, **records("++", Kind.LINE)}}),
        (About("empty", True), {CaseSet.HELD_OUT: both}),
    ]
    told = beside_table(everyone, "big")
    assert "### Beside big" in told and "empty" not in told
    assert "| **big, no copies** | held-out: line | 2 | 100.0 | 50.0 | 1 | 0 | +50.0 (" in told
    assert "| **big, no copies** | held-out: all | 4 | 100.0 | 75.0 | 1 | 0 | +25.0 (" in told
    with pytest.raises(RecordError, match="no results of 'small'; there are big, big, no copies"):
        beside_table(everyone, "small")
