"""Repeated measurements. Owns: how they are summed up."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from attrs import frozen


@frozen
class Series:
    """Repeated measurements of one thing."""

    unit: str
    """ms, MB, % or x."""
    median: float
    p95: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float], unit: str) -> Series:
        """Sum up; at least one value."""
        ordered = sorted(values)
        p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
        return cls(unit, round(statistics.median(ordered), 2), round(p95, 2), len(ordered))


@frozen
class Ratio:
    """Two things side by side: medians of pairs that were measured in turn."""

    median: float
    goal: float
    """What it should be at least, or at most when `at_most`; 0: no goal."""
    at_most: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal."""
        if not self.goal:
            return None
        return self.median <= self.goal if self.at_most else self.median >= self.goal

    @classmethod
    def of(cls, above: Sequence[float], below: Sequence[float], goal: float = 0.0) -> Ratio:
        """Median of `above[i] / below[i]`."""
        return cls(round(statistics.median(a / b for a, b in zip(above, below, strict=True)), 2), goal)
