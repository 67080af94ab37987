"""Figures of the local statistics. Owns: how counts are summed up, and for which periods.

Must not know: how they are shown.
"""

from __future__ import annotations

import datetime
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from attrs import Factory, define, frozen

from engine.usage import Event, Key, milliseconds_of

PERIODS: Final = ("today", "7 days", "all")
_SHARES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95}

OVERTAKEN: Final = ("superseded", "cancelled")
"""Reasons that say only that somebody typed on."""
_SAME_AGAIN: Final = "session"


@frozen
class Times:
    """How long answers took, from the request on, in milliseconds; off by a tenth at most."""

    n: int
    p50: float
    p90: float
    p95: float

    @classmethod
    def of(cls, buckets: Mapping[int, int]) -> Times:
        """Sum up; at least one."""
        n = sum(buckets.values())
        return cls(n, **{name: _quantile(buckets, share * n) for name, share in _SHARES.items()})


@define
class Figures:
    """What happened in one period, in all or for one model or language."""

    asked: int = 0
    """Requests that the next key did not overtake."""
    shown: int = 0
    """Suggestions; what is typed through one is shown again at each key, and counted once."""
    nothing: Counter[str] = Factory(Counter)
    """Requests that nothing was shown for, by the reason."""
    accepted: Counter[str] = Factory(Counter)
    """By how much: all, word, line, typed."""
    accepted_characters: int = 0
    dismissed: int = 0
    latency_ms: dict[str, Times] = Factory(dict)
    """Of what was shown, by where it came from."""

    @classmethod
    def of(cls, counts: Iterable[tuple[Key, int]]) -> Figures:
        """Sum up."""
        made = cls()
        buckets: dict[str, Counter[int]] = defaultdict(Counter)
        for key, n in counts:
            match key.event:
                case Event.SHOWN:
                    made.shown += n if key.detail != _SAME_AGAIN else 0
                    buckets[key.detail][key.bucket] += n
                case Event.NOTHING:
                    made.nothing[key.detail] += n
                case Event.ACCEPTED:
                    made.accepted[key.detail] += n
                case Event.CHARACTERS:
                    made.accepted_characters += n
                case Event.DISMISSED:
                    made.dismissed += n
        made.asked = made.shown + made.nothing.total() - sum(made.nothing[reason] for reason in OVERTAKEN)
        made.latency_ms = {source: Times.of(found) for source, found in sorted(buckets.items())}
        return made


@frozen
class Period:
    """One period's figures."""

    total: Figures
    models: dict[str, Figures]
    languages: dict[str, Figures]

    @classmethod
    def of(cls, counts: Iterable[tuple[Key, int]]) -> Period:
        """Sum up."""
        found = list(counts)
        return cls(Figures.of(found), _grouped(found, lambda key: key.model), _grouped(found, lambda key: key.language))


def periods(counts: Mapping[Key, int], today: datetime.date) -> dict[str, Period]:
    """Today, today and the six days before, and everything."""
    first_days = {"today": today, "7 days": today - datetime.timedelta(days=6), "all": datetime.date.min}
    return {
        name: Period.of((key, n) for key, n in counts.items() if key.day >= first_days[name].isoformat())
        for name in PERIODS
    }


def _grouped(counts: Iterable[tuple[Key, int]], name_of: Callable[[Key], str]) -> dict[str, Figures]:
    """By name, the most asked for first."""
    groups: dict[str, list[tuple[Key, int]]] = defaultdict(list)
    for key, n in counts:
        groups[name_of(key)].append((key, n))
    figures = {name: Figures.of(found) for name, found in groups.items()}
    return dict(sorted(figures.items(), key=lambda one: (-one[1].asked, one[0])))


def _quantile(buckets: Mapping[int, int], wanted: float) -> float:
    ordered = sorted(buckets)
    so_far = itertools.accumulate(buckets[bucket] for bucket in ordered)
    bucket = next(bucket for bucket, n in zip(ordered, so_far, strict=True) if n >= wanted)
    return round(milliseconds_of(bucket), 1)
