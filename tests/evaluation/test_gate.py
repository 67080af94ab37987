"""The gate: what it lets through, how it is chosen, how it is told."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import attrs
import pytest

from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.gate import Shown, chosen, crossed, curve, scored, shown
from engine.evaluation.gate_report import gate_chart, gate_table
from engine.evaluation.records import About, Record
from engine.protocol import Candidate
from tests.evaluation.test_report import RECORD


def case(number: int, probability: float | None, right: bool, text: str = "x", n_tokens: int = 4) -> Record:
    score = None if probability is None else math.log(probability) / n_tokens
    return attrs.evolve(
        RECORD,
        case_set=CaseSet.HELD_OUT,
        kind=Kind.LINE,
        case_id=str(number),
        text=text,
        exact=right,
        n_tokens=n_tokens,
        score=score,
    )


CASES = [case(0, 0.9, True), case(1, 0.8, True), case(2, 0.6, False), case(3, 0.5, True), case(4, 0.1, False)]


def test_a_gate_lets_through_what_is_probable_enough() -> None:
    assert shown(CASES, 0.7) == Shown(5, 2, 2)
    assert shown(CASES, 0.0) == Shown(5, 5, 3)
    assert shown(CASES, 1.01) == Shown(5, 0, 0)
    assert (shown(CASES, 0.55).share, shown(CASES, 0.55).right) == (0.6, pytest.approx(2 / 3))
    assert shown([case(0, 0.9, False, text=" \n")], 0.0).n_shown == 0, "nothing is never shown"
    assert (Shown(0, 0, 0).share, Shown(0, 0, 0).right) == (0.0, 0.0)


def test_probability_is_of_the_whole_text() -> None:
    assert case(0, 0.5, True, n_tokens=8).probability == pytest.approx(0.5)
    assert case(0, None, True).probability is None
    assert Candidate("x", math.log(0.5) / 8, 8, 4, True).probability == pytest.approx(0.5)
    assert Candidate("x", 0.0, 8, 4, True).probability == Candidate("", -1e9, 0, 4, True).probability == 1.0
    assert Candidate("x", -1e9, 8, 4, True).probability == 0.0
    assert scored([*CASES, case(9, None, True)]) == CASES


def test_the_curve_falls_from_the_strictest_gate() -> None:
    points = curve(CASES)
    assert [round(least, 2) for least, _ in points] == [0.9, 0.8, 0.6, 0.5, 0.1]
    assert [at.n_shown for _, at in points] == [1, 2, 3, 4, 5]


def test_the_rule_weighs_a_wrong_text_as_much_as_a_right_one() -> None:
    assert chosen(CASES) == pytest.approx(0.8)  # 2 - 0; 3 - 1 with more shown is no better
    assert chosen([case(0, 0.9, False), case(1, 0.5, True)]) > 1, "no gate gains anything"
    assert chosen([]) > 1


def test_unseen_halves_together_are_all_cases() -> None:
    many = [case(i, 0.9 if i % 2 else 0.2, bool(i % 2)) for i in range(40)]
    assert crossed(many) == Shown(40, 20, 20)


def test_the_table_and_the_picture() -> None:
    held = {CaseSet.HELD_OUT: {record.case_id: record for record in CASES * 1}}
    everyone = [(About("a<b", False, least_probability=0.55), held), (About("bare", True), {})]
    table = gate_table(everyone)
    assert "| **a<b** | all | 5 | 60 | 0.55 | 60 | 67 | 67 |" in table
    assert "| **a<b** | line | 5 | 60 | 0.55 | 60 | 67 | 67 |" in table
    assert "| a<b, the rule on unseen halves | all | 5 | | 0.80 |" in table
    assert gate_table([(About("bare", True), {})]) == ""
    picture = ElementTree.fromstring(gate_chart(everyone))
    texts = ["".join(one.itertext()) for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "a<b: all" in texts and "right, % of those shown" in texts
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 2
