"""The gate: which texts are worth showing unasked. Must not know: engines, files, tables.

Owns: the curve of shown against right share, and the rule that picks a point of it. A text is shown when the model
gives the whole of it at least some probability.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from attrs import frozen

from engine.evaluation.records import Record


@frozen
class Shown:
    """What a gate lets through. Shares are 0 to 1."""

    n: int
    """Cases."""
    n_shown: int
    n_right: int
    """Of those shown."""

    @property
    def share(self) -> float:
        """Of the cases, those with something shown."""
        return self.n_shown / self.n if self.n else 0.0

    @property
    def right(self) -> float:
        """Of those shown, the right ones."""
        return self.n_right / self.n_shown if self.n_shown else 0.0

    def __add__(self, other: Shown) -> Shown:
        return Shown(self.n + other.n, self.n_shown + other.n_shown, self.n_right + other.n_right)


def scored(records: Sequence[Record]) -> list[Record]:
    """The records whose engine told a score: a gate can be judged on them."""
    return [record for record in records if record.probability is not None]


def shown(records: Sequence[Record], least: float) -> Shown:
    """What a gate at probability `least` lets through. An empty text is never shown."""
    passed = [record for record in records if record.text.strip() and (record.probability or 0.0) >= least]
    return Shown(len(records), len(passed), sum(record.exact for record in passed))


def curve(records: Sequence[Record]) -> list[tuple[float, Shown]]:
    """The gate at every probability that occurs, the strictest first."""
    levels = {record.probability for record in records if record.text.strip() and record.probability is not None}
    return [(least, shown(records, least)) for least in sorted(levels, reverse=True)]


def chosen(records: Sequence[Record]) -> float:
    """The gate that gains most, where a wrong text costs what a right one gains; above 1: none gains anything."""
    best, most = 1.01, 0
    for least, at in curve(records):
        gain = 2 * at.n_right - at.n_shown
        if gain > most:
            best, most = least, gain
    return best


def crossed(records: Sequence[Record]) -> Shown:
    """The rule on cases that it has not seen: chosen on each half of `records`, applied to the other."""
    halves: tuple[list[Record], list[Record]] = ([], [])
    for record in records:
        halves[hashlib.sha256(record.case_id.encode()).digest()[0] % 2].append(record)
    first, second = halves
    return shown(second, chosen(first)) + shown(first, chosen(second))
