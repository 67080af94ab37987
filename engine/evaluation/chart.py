"""The gate's curve as a picture. Owns: the SVG. Must not know: files, models, engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

from engine.evaluation.gate import Shown
from engine.evaluation.panel import COLOURS, LEFT, SIDE, TOP, Axis, Panel, picture

_RIGHT: Final = 260
"""Space for the names."""
_LEAST_SHOWN: Final = 5
"""Points of fewer texts are left out: they say nothing."""
_PERCENT: Final = tuple(float(i) for i in range(0, 101, 20))


def chart(title: str, curves: Mapping[str, Sequence[Shown]], gates: Mapping[str, Shown]) -> str:
    """An SVG with one line for each of `curves`, and a dot where its gate of `gates` stands."""
    x, y = Axis("shown, % of the cases", _PERCENT), Axis("right, % of those shown", _PERCENT)
    panel = Panel(escape(title), x, y)

    def at(one: Shown) -> tuple[float, float]:
        return panel.at(100 * one.share, 100 * one.right)

    parts = panel.frame()
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join("{:.1f},{:.1f}".format(*at(one)) for one in curve if one.n_shown >= _LEAST_SHOWN)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        down, across = TOP + 16 + 22 * number, LEFT + SIDE + 16
        parts.append(f'<rect x="{across}" y="{down - 4}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{across + 20}" y="{down + 2}">{escape(name)}</text>')
        if name in gates:
            dot = at(gates[name])
            parts.append(f'<circle cx="{dot[0]:.1f}" cy="{dot[1]:.1f}" r="5" fill="{colour}"/>')
    return picture(LEFT + SIDE + _RIGHT, parts)
