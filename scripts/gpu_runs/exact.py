"""How often an exported model's text is the missing one. Owns: that count; cases and metrics are the evaluation's."""

from __future__ import annotations

import itertools
import statistics
import time
from pathlib import Path
from typing import Any, Final

from engine.config import EngineConfig
from engine.denoisers.denoiser import Denoiser
from engine.denoisers.loading import load_denoiser
from engine.evaluation.cases import Case, CaseSet, Kind, read_cases, sample
from engine.evaluation.metrics import edit_similarity, exact_match
from engine.evaluation.policy import POLICIES, finish
from engine.models.resolve import resolve
from engine.protocol import Fill
from gpu_runs.sections import Clock

_KEPT_S: Final = 2.0
"""Of the clock, for whatever comes behind."""


def exact(model: Path, cases: Path, config: EngineConfig, clock: Clock, most: int = 100) -> dict[str, Any]:
    """Exact match and edit similarity by kind of hole, on as many cases as there is time for, at most `most` a kind."""
    denoiser = load_denoiser(resolve(str(model)), config, lambda *_: None)
    by_kind: dict[Kind, list[Case]] = {}
    for case in sample(read_cases(CaseSet.HELD_OUT, [cases]), most, 0):
        by_kind.setdefault(case.kind, []).append(case)
    found: dict[Kind, list[dict[str, float]]] = {kind: [] for kind in by_kind}
    for case in itertools.chain(*zip(*by_kind.values(), strict=False)):  # as many of each kind, whenever time is over
        if clock.left < _KEPT_S:
            break
        found[case.kind].append(_answer(denoiser, case))
    return {kind.value: _means(rows) for kind, rows in found.items() if rows}


def _answer(denoiser: Denoiser, case: Case) -> dict[str, float]:
    policy = POLICIES[case.kind]
    fill = Fill(
        "",
        case.prefix,
        case.suffix,
        language="python",
        path=case.path,
        max_tokens=min(policy.max_tokens, denoiser.limits.region_tokens),
        max_lines=policy.max_lines,
    )
    started = time.perf_counter()
    denoising = denoiser.open(fill)
    while denoising.advance().reason is None:
        pass
    candidates = denoising.candidates()
    counts = denoising.counts
    denoising.close()
    text = finish(case, candidates[0].text if candidates else "")
    return {
        "exact": float(exact_match(text, case.middle)),
        "similarity": edit_similarity(text, case.middle),
        "passes": counts.n_forward_passes,
        "tokens": candidates[0].n_tokens if candidates else 0,
        "ms": 1000 * (time.perf_counter() - started),
    }


def _means(rows: list[dict[str, float]]) -> dict[str, float]:
    found = {name: round(statistics.mean(row[name] for row in rows), 4) for name in rows[0]}
    passes = sum(row["passes"] for row in rows)
    return {"n": len(rows), **found, "tokens_per_pass": round(sum(row["tokens"] for row in rows) / max(1, passes), 3)}
