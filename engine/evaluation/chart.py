"""The gate's curve as a picture. Owns: the SVG. Must not know: files, models, engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

from engine.evaluation.gate import Shown

_LEFT, _TOP, _SIDE, _RIGHT, _BOTTOM = 56, 28, 360, 260, 52
_COLOURS: Final = ("#1f6feb", "#d4622a", "#2a9d5c", "#8957e5", "#b08800", "#c93c70")
_LEAST_SHOWN: Final = 5
"""Points of fewer texts are left out: they say nothing."""


def chart(title: str, curves: Mapping[str, Sequence[Shown]], gates: Mapping[str, Shown]) -> str:
    """An SVG with one line for each of `curves`, and a dot where its gate of `gates` stands."""
    parts = [_frame(title)]
    for number, (name, curve) in enumerate(curves.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join(f"{_x(one):.1f},{_y(one):.1f}" for one in curve if one.n_shown >= _LEAST_SHOWN)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = _TOP + 16 + 22 * number
        x = _LEFT + _SIDE + 16
        parts.append(f'<rect x="{x}" y="{y - 4}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{x + 20}" y="{y + 2}">{escape(name)}</text>')
        if name in gates:
            parts.append(f'<circle cx="{_x(gates[name]):.1f}" cy="{_y(gates[name]):.1f}" r="5" fill="{colour}"/>')
    return "\n".join([*parts, "</svg>", ""])


def _frame(title: str) -> str:
    width, height = _LEFT + _SIDE + _RIGHT, _TOP + _SIDE + _BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        ' font-size="12" fill="#333">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
    ]
    for percent in range(0, 101, 20):
        x, y = _LEFT + _SIDE * percent / 100, _TOP + _SIDE * (100 - percent) / 100
        lines.append(f'<path d="M{x} {_TOP}v{_SIDE}M{_LEFT} {y}h{_SIDE}" stroke="#ddd"/>')
        lines.append(f'<text x="{x}" y="{_TOP + _SIDE + 16}" text-anchor="middle">{percent}</text>')
        lines.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{percent}</text>')
    middle = _TOP + _SIDE / 2
    lines.append(
        f'<text x="{_LEFT + _SIDE / 2}" y="{_TOP + _SIDE + 38}" text-anchor="middle">shown, % of the cases</text>'
    )
    lines.append(
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">'
        "right, % of those shown</text>"
    )
    return "\n".join(lines)


def _x(shown: Shown) -> float:
    return _LEFT + _SIDE * shown.share


def _y(shown: Shown) -> float:
    return _TOP + _SIDE * (1 - shown.right)
