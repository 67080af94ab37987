"""Figures of a group of records. Owns: sums and shares. Must not know: files, tables, models."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from engine.evaluation.metrics import wilson_interval
from engine.evaluation.records import Record


@frozen
class Figures:
    """One row of the report. Shares are 0 to 1."""

    n: int
    exact: float
    similarity: float
    n_tested: int
    """Cases with a test program."""
    passed: float
    """pass@1 of the tested ones."""
    passed_low: float
    passed_high: float
    steps: float
    """Mean denoising steps."""
    tokens_per_forward: float
    """Region tokens of the returned texts by forward passes of the denoiser."""
    median_ms: float
    reasons: tuple[tuple[str, float], ...]
    """Why fills stopped, with shares, most frequent first."""


def compute(records: Sequence[Record]) -> Figures:
    """Figures of at least one record."""
    n = len(records)
    tested = [record for record in records if record.end]
    n_passed = sum(record.end == "passed" for record in tested)
    low, high = wilson_interval(n_passed, len(tested))
    n_forward = sum(record.n_forward_passes for record in records)
    reasons = Counter(record.reason for record in records if record.reason)
    return Figures(
        n=n,
        exact=sum(record.exact for record in records) / n,
        similarity=statistics.fmean(record.similarity for record in records),
        n_tested=len(tested),
        passed=n_passed / len(tested) if tested else 0.0,
        passed_low=low,
        passed_high=high,
        steps=statistics.fmean(record.n_steps for record in records),
        tokens_per_forward=sum(record.n_tokens for record in records) / n_forward if n_forward else 0.0,
        median_ms=statistics.median(record.total_ms for record in records),
        reasons=tuple((reason, count / n) for reason, count in reasons.most_common()),
    )
