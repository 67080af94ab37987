"""Mending of lines by a denoiser in this process. Owns: a filler that starts from what stands in the hole.

The engine's socket has no message for it yet. Runs on the thread that calls it, one forward pass at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from engine.denoisers.denoiser import Denoiser, DenoiserError, Denoising
from engine.evaluation.cases import Case
from engine.evaluation.fillers import Answer
from engine.evaluation.policy import Policy
from engine.protocol import Fill


@runtime_checkable
class Reviser(Protocol):
    """A denoiser that can start from a text in place of noise."""

    def open_revision(self, fill: Fill, old: str, doubt: float) -> Denoising:
        """Begin a fill whose region shows `old`; tokens that are less likely than `doubt` times others are remade."""
        ...


class RevisionFiller:
    """Mends what stands in a case's hole."""

    def __init__(self, denoiser: Denoiser, doubt: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """Raises `DenoiserError` when the model can't mend."""
        if not isinstance(denoiser, Reviser):
            raise DenoiserError(f"{denoiser.model.name} fills holes, but mends nothing: it can't start from a text")
        self._reviser: Reviser = denoiser
        self._doubt, self._clock = doubt, clock
        self.name = denoiser.model.name
        self.region_tokens = denoiser.limits.region_tokens

    async def fill(self, case: Case, policy: Policy) -> Answer:
        """One candidate, no guesses, no deadline, always the same seed; the old text where none was found."""
        await asyncio.sleep(0)  # between cases, whoever waits for a signal gets its turn
        request = Fill(
            request_id="",
            prefix=case.prefix,
            suffix=case.suffix,
            language="python",
            path=case.path,
            max_tokens=min(policy.max_tokens, self.region_tokens),
            max_lines=policy.max_lines,
        )
        began = self._clock()
        denoising = self._reviser.open_revision(request, case.draft, self._doubt)
        try:
            while (reason := denoising.advance().reason) is None:
                pass
            candidates, counts = denoising.candidates(), denoising.counts
        finally:
            denoising.close()
        took_ms = 1000 * (self._clock() - began)
        if not candidates:
            return Answer(case.draft, reason, 0, counts.n_steps, counts.n_forward_passes, took_ms)
        best = candidates[0]
        return Answer(best.text, reason, best.n_tokens, counts.n_steps, counts.n_forward_passes, took_ms)
