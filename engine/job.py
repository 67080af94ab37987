"""A fill in the engine. Owns: its times and its result. Must not know: sockets, other fills, the clock."""

from __future__ import annotations

from attrs import define

from engine.denoisers.denoiser import Counts, Denoising
from engine.protocol import Candidate, Fill, Reason, Result, Timings


@define(eq=False)
class Job:
    """A fill in the engine."""

    peer: bytes
    fill: Fill
    received: float
    """Seconds, monotonic."""
    denoising: Denoising | None = None
    started: float = 0.0
    first_frame: float = 0.0
    n_frames: int = 0

    @property
    def deadline(self) -> float:
        """When an answer is due, in monotonic seconds."""
        return self.received + self.fill.deadline_ms / 1000 if self.fill.deadline_ms else float("inf")

    def result(self, reason: Reason, candidates: tuple[Candidate, ...], model: str, now: float) -> Result:
        """Its one good end, at `now` (monotonic seconds)."""
        counts = self.denoising.counts if self.denoising is not None else Counts()
        started = self.started or now
        timings = Timings(
            queue=(started - self.received) * 1000,
            prefill=counts.prefill_ms,
            first_frame=(self.first_frame - self.received) * 1000 if self.first_frame else 0.0,
            denoise=counts.denoise_ms,
            rank=counts.rank_ms,
            forward=counts.forward_ms,
            total=(now - self.received) * 1000,
        )
        return Result(
            request_id=self.fill.request_id,
            uri=self.fill.uri,
            version=self.fill.version,
            session=self.fill.session,
            candidates=candidates,
            reason=reason,
            n_steps=counts.n_steps,
            n_forward_passes=counts.n_forward_passes,
            n_frames=self.n_frames,
            n_prompt_tokens=counts.n_prompt_tokens,
            n_reused_tokens=counts.n_reused_tokens,
            model=model,
            timings_ms=timings,
        )
