"""Over training time: a run's checkpoints as a picture. Owns: which records become points and lines, the SVG.

Must not know: how records came about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape

from attrs import frozen

from engine.evaluation.cases import Kind
from engine.evaluation.figures import compute
from engine.evaluation.gate_report import Everyone
from engine.evaluation.panel import COLOURS, LEFT, SIDE, TOP, Axis, Panel, picture
from engine.evaluation.records import Training

_WIDTH: Final = LEFT + SIDE + 24
_NAMES: Final = 340
_DASHES: Final = ("", "7 4", "2 3", "9 3 2 3")
"""By run and variant; colours are by kind of case."""


@frozen
class Point:
    """One checkpoint on one kind of case."""

    training: Training
    exact: float
    """0 to 1."""
    tokens_per_forward: float


@frozen
class Line:
    """Checkpoints of one run, run in one way, on one kind of case."""

    who: str
    cases: str
    points: tuple[Point, ...]
    """By step."""


def lines(everyone: Everyone) -> list[Line]:
    """All lines that the records hold; of models that say nothing about their training there are none."""
    found: dict[tuple[str, str], list[Point]] = {}
    for about, by_set in everyone:
        if about.training is None:
            continue
        who = f"{about.training.run}, {about.variant}" if about.variant else about.training.run
        for case_set, held in by_set.items():
            for kind in Kind:
                records = [record for record in held.values() if record.kind is kind]
                if records:
                    figures = compute(records)
                    point = Point(about.training, figures.exact, figures.tokens_per_forward)
                    found.setdefault((who, f"{case_set}: {kind}"), []).append(point)
    return [Line(*key, tuple(sorted(points, key=lambda p: p.training.step))) for key, points in sorted(found.items())]


def training_chart(everyone: Everyone) -> str:
    """Two panels as one SVG: exact match and tokens per forward against hours of training."""
    drawn = lines(everyone)
    points = [point for line in drawn for point in line.points]
    hours = Axis.up_to("hours of training", max((_hours(p) for p in points), default=0))
    exact = Axis.up_to("exact match, %", max((100 * p.exact for p in points), default=0))
    speed = Axis.up_to("tokens per forward", max((p.tokens_per_forward for p in points), default=0))
    panels = (Panel("Exact match", hours, exact), Panel("Tokens per forward", hours, speed, _WIDTH))
    parts = [*panels[0].frame(), *panels[1].frame()]
    cases = sorted({line.cases for line in drawn})
    who = sorted({line.who for line in drawn})
    for number, line in enumerate(drawn):
        colour = COLOURS[cases.index(line.cases) % len(COLOURS)]
        dashes = _DASHES[who.index(line.who) % len(_DASHES)]
        style = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes or "none"}"'
        parts += _curve(panels[0], line.points, [100 * p.exact for p in line.points], colour, style)
        parts += _curve(panels[1], line.points, [p.tokens_per_forward for p in line.points], colour, style)
        down, across = TOP + 16 + 22 * number, 2 * _WIDTH + 8
        parts.append(f'<path d="M{across} {down - 4}h24" {style}/>')
        parts.append(f'<text x="{across + 30}" y="{down}">{escape(f"{line.who}; {line.cases}")}</text>')
    return picture(2 * _WIDTH + _NAMES, parts)


def _curve(panel: Panel, points: Sequence[Point], values: Sequence[float], colour: str, style: str) -> Iterator[str]:
    places = [panel.at(_hours(p), value) for p, value in zip(points, values, strict=True)]
    yield f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" {style}/>'
    for point, value, (x, y) in zip(points, values, places, strict=True):
        told = f"step {point.training.step}, {point.training.canvases} canvases: {value:.2f}"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{told}</title></circle>'


def _hours(point: Point) -> float:
    return point.training.seconds / 3600
