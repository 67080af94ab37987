"""Checkpoints of one run as points of a picture, from made-up records."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import attrs
import pytest

from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.gate_report import Everyone
from engine.evaluation.panel import Axis
from engine.evaluation.records import About, Record, Training, training_of
from engine.evaluation.training_chart import lines, training_chart
from tests.evaluation.test_report import RECORD

SVG = "{http://www.w3.org/2000/svg}"


def records(n_right: int, n_forward: int) -> dict[CaseSet, dict[str, Record]]:
    made = [
        attrs.evolve(
            RECORD, case_set=CaseSet.HELD_OUT, kind=kind, case_id=f"{kind}{i}", exact=i < n_right,
            n_tokens=6, n_forward_passes=n_forward,
        )
        for kind in (Kind.REST_OF_LINE, Kind.LINE)
        for i in range(10)
    ]  # fmt: skip
    return {CaseSet.HELD_OUT: {record.case_id: record for record in made}}


def made_up() -> Everyone:
    steps = [(100, 1, 6), (200, 3, 4), (400, 4, 3), (800, 5, 2)]
    return [
        (About("base", False), records(5, 5)),  # says nothing of training
        *(
            (
                About(
                    f"step-{step:06d}", False, variant=variant, training=Training("a<b", step, 36.0 * step, 16 * step)
                ),
                records(n_right, n_forward),
            )
            for variant, better in (("verified", 0), ("free", 1))
            for step, n_right, n_forward in [(s, r - better, f - better) for s, r, f in reversed(steps)]
        ),
    ]


def test_a_line_is_one_run_run_in_one_way_on_one_kind() -> None:
    found = lines(made_up())
    assert [(line.who, line.cases) for line in found] == [
        ("a<b, free", "held-out: line"),
        ("a<b, free", "held-out: rest of line"),
        ("a<b, verified", "held-out: line"),
        ("a<b, verified", "held-out: rest of line"),
    ]
    assert [(p.training.step, p.exact, p.tokens_per_forward) for p in found[2].points] == [
        (100, 0.1, 1.0),
        (200, 0.3, 1.5),
        (400, 0.4, 2.0),
        (800, 0.5, 3.0),
    ]


def test_the_picture_has_two_panels_with_all_points() -> None:
    picture = ElementTree.fromstring(training_chart(made_up()))
    texts = ["".join(one.itertext()) for one in picture.iter(f"{SVG}text")]
    assert {"hours of training", "exact match, %", "tokens per forward", "a<b, free; held-out: line"} <= set(texts)
    assert len(list(picture.iter(f"{SVG}polyline"))) == 8
    assert len(list(picture.iter(f"{SVG}circle"))) == 32
    assert "step 800, 12800 canvases: 50.00" in [one.text for one in picture.iter(f"{SVG}title")]
    assert ElementTree.fromstring(training_chart([])) is not None


@pytest.mark.parametrize(
    "most",
    [0.0, 1.0, 8.0, 0.03, 3.7, 99.9, 100.0, 12345.0],
)
def test_an_axis_has_round_ticks_that_reach_far_enough(most: float) -> None:
    axis = Axis.up_to("x", most)
    assert axis.ticks[0] == 0 and axis.ticks[-1] >= most
    assert 4 <= len(axis.ticks) - 1 <= 10
    assert axis.share(0) == 0 and axis.share(axis.ticks[-1]) == 1


def test_a_checkpoint_says_how_long_it_was_trained(tmp_path: Path) -> None:
    folder = tmp_path / "big" / "snapshots" / "step-000400"
    folder.mkdir(parents=True)
    record = folder / "midfill.json"
    record.write_text(json.dumps({"training": {"step": 400, "seconds": 90.5, "canvases": 6400, "size": "s"}}))
    assert training_of(str(folder)) == Training("big", 400, 90.5, 6400)
    assert About("step-000400", False, training=Training("big", 400, 90.5)).label == "big step 400"
    (tmp_path / "midfill.json").write_text(json.dumps({"training": {"step": 1, "seconds": 2}}))
    assert training_of(str(tmp_path)) == Training(tmp_path.name, 1, 2.0)
    for damaged in ("", "[]", "{}", '{"training": {"step": "x", "seconds": 1}}', '{"training": null}'):
        record.write_text(damaged)
        assert training_of(str(folder)) is None
    assert training_of("auto") is None
