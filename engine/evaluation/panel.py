"""A panel of a picture: two axes with a grid, and where a point lies on it. Owns: the SVG of axes.

Must not know: figures.
"""

from __future__ import annotations

import math
from typing import Final

from attrs import frozen

SIDE: Final = 360
LEFT, TOP, BOTTOM = 56, 28, 52
"""Space around a panel, for what is written there."""
COLOURS: Final = ("#1f6feb", "#d4622a", "#2a9d5c", "#8957e5", "#b08800", "#c93c70")


@frozen
class Axis:
    """From its first tick to its last one."""

    told: str
    ticks: tuple[float, ...]

    @classmethod
    def up_to(cls, told: str, most: float) -> Axis:
        """From 0 to at least `most`, in four to ten round steps."""
        most = most if most > 0 else 1.0
        power = 10.0 ** math.floor(math.log10(most))
        step = next(power * part for part in (0.1, 0.2, 0.25, 0.5, 1.0, 2.0) if power * part * 8 >= most)
        return cls(told, tuple(round(i * step, 10) for i in range(math.ceil(most / step - 1e-9) + 1)))

    def share(self, value: float) -> float:
        """0 at the axis' begin, 1 at its end."""
        return (value - self.ticks[0]) / (self.ticks[-1] - self.ticks[0])


@frozen
class Panel:
    """A square with a grid; `left` is where its picture begins."""

    title: str
    x: Axis
    y: Axis
    left: float = 0.0

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        return self.left + LEFT + SIDE * self.x.share(x), TOP + SIDE * (1 - self.y.share(y))

    def frame(self) -> list[str]:
        """Title, grid, ticks and names of the axes."""
        left, bottom, middle = self.left + LEFT, TOP + SIDE, TOP + SIDE / 2
        lines = [f'<text x="{left}" y="18" font-weight="bold">{self.title}</text>']
        for tick in self.x.ticks:
            x, _ = self.at(tick, self.y.ticks[0])
            lines.append(f'<path d="M{x:.1f} {TOP}v{SIDE}" stroke="#ddd"/>')
            lines.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
        for tick in self.y.ticks:
            _, y = self.at(self.x.ticks[0], tick)
            lines.append(f'<path d="M{left} {y:.1f}h{SIDE}" stroke="#ddd"/>')
            lines.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
        lines.append(f'<text x="{left + SIDE / 2}" y="{bottom + 38}" text-anchor="middle">{self.x.told}</text>')
        across = self.left + 16
        lines.append(
            f'<text x="{across}" y="{middle}" text-anchor="middle" transform="rotate(-90 {across} {middle})">'
            f"{self.y.told}</text>"
        )
        return lines


def picture(width: float, parts: list[str]) -> str:
    """An SVG of panels' height."""
    height = TOP + SIDE + BOTTOM
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" font-family="sans-serif"'
        f' font-size="12" fill="#333">\n<rect width="{width:g}" height="{height}" fill="#fff"/>'
    )
    return "\n".join([head, *parts, "</svg>", ""])
