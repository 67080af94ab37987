"""One model beside another on the same cases. Owns: what is compared, its table.

Must not know: how records came about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen

from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.gate_report import Everyone
from engine.evaluation.records import About, Record, RecordError

_Z: Final = 1.959964
"""Two-sided 95 % of the normal distribution."""
_HEAD: Final = (
    "| who | cases | n | exact match % | the other's | only it is right | only the other is | difference, points (95 %)"
    " | same text % |\n|---|---|---|---|---|---|---|---|---|"
)


@frozen
class Pairs:
    """Cases that both have done."""

    n: int
    n_right: int
    n_only: int
    """Right, and the other is wrong."""
    n_only_other: int
    n_same: int
    """The same text, right or wrong."""

    @property
    def difference(self) -> float:
        """Of the shares that are right: -1 to 1."""
        return (self.n_only - self.n_only_other) / self.n

    @property
    def spread(self) -> float:
        """Half of the difference's 95 % interval, for paired shares."""
        apart = self.n_only + self.n_only_other
        return _Z * math.sqrt(max(0.0, apart - self.n * self.difference**2)) / self.n


def pairs(records: Mapping[str, Record], other: Mapping[str, Record]) -> Pairs | None:
    """What is compared of cases that both hold; None where there are none."""
    both = [(record, other[key]) for key, record in records.items() if key in other]
    if not both:
        return None
    return Pairs(
        n=len(both),
        n_right=sum(a.exact for a, _ in both),
        n_only=sum(a.exact and not b.exact for a, b in both),
        n_only_other=sum(b.exact and not a.exact for a, b in both),
        n_same=sum(a.text == b.text for a, b in both),
    )


def beside_table(everyone: Everyone, label: str) -> str:
    """All other models beside the one of this label. Raises `RecordError` when there is none."""
    known = [about.label for about, _ in everyone if not about.baseline]
    if label not in known:
        raise RecordError(f"no results of {label!r}; there are {', '.join(known) or 'none'}")
    other = next(by_set for about, by_set in everyone if about.label == label)
    lines = [
        _line(about, cases, found)
        for about, by_set in everyone
        if not about.baseline and about.label != label
        for cases, found in _compared(by_set, other)
    ]
    return "\n".join([f"### Beside {label}", "", _HEAD, *lines])


def _compared(
    by_set: Mapping[CaseSet, Mapping[str, Record]], other: Mapping[CaseSet, Mapping[str, Record]]
) -> Iterator[tuple[str, Pairs]]:
    for case_set in CaseSet:
        held, others = by_set.get(case_set, {}), other.get(case_set, {})
        of_kinds: Sequence[tuple[str, Pairs | None]] = [
            (f"{case_set}: {kind}", pairs({key: r for key, r in held.items() if r.kind is kind}, others))
            for kind in Kind
        ]
        there = [(name, found) for name, found in of_kinds if found is not None]
        yield from there
        everything = pairs(held, others)
        if len(there) > 1 and everything is not None:
            yield f"{case_set}: all", everything


def _line(about: About, cases: str, found: Pairs) -> str:
    right = 100 * found.n_right / found.n
    low, middle, high = (100 * (found.difference + part * found.spread) for part in (-1, 0, 1))
    return (
        f"| **{about.label}** | {cases} | {found.n} | {right:.1f} | {right - 100 * found.difference:.1f}"
        f" | {found.n_only} | {found.n_only_other}"
        f" | {middle:+.1f} ({low:+.1f} to {high:+.1f}) | {100 * found.n_same / found.n:.0f} |"
    )
