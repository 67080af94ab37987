"""A scripted denoiser: the real interface without a model, for tests of the core and the scheduler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.denoisers.denoiser import Counts, Progress
from engine.protocol import Candidate, Family, Fill, Limits, Model, Reason, Span


class FakeCache:
    """Holds nothing."""

    n_bytes = 0
    n_tokens = 0
    n_cleared = 0

    def clear(self) -> None:
        self.n_cleared += 1


class FakeDenoiser:
    """Every fill takes as many steps as its `max_tokens` and says its own request id."""

    model = Model("fake", Family.UNIFORM, "cpu", "float32", 0, "A script.")
    limits = Limits(1000, 512, 4, 2)

    def __init__(self, on_step: Callable[[Fill, int], Any] = lambda fill, step: None) -> None:
        self.cache = FakeCache()
        self.on_step = on_step
        """Called before each step; may raise."""
        self.order: list[str] = []
        """Request ids in the order of their steps."""
        self.closed: list[str] = []

    def open(self, fill: Fill) -> FakeDenoising:
        return FakeDenoising(self, fill)


class FakeDenoising:
    """One scripted fill."""

    def __init__(self, denoiser: FakeDenoiser, fill: Fill) -> None:
        self.denoiser, self.fill, self.step = denoiser, fill, 0

    def advance(self) -> Progress:
        self.step += 1
        self.denoiser.on_step(self.fill, self.step)
        self.denoiser.order.append(self.fill.request_id)
        reason = Reason.CONVERGED if self.step >= self.fill.max_tokens else None
        return Progress((Span(f"step {self.step}", settled=False),), reason)

    def candidates(self) -> tuple[Candidate, ...]:
        return (Candidate(self.fill.request_id, -1.0, 1, self.step, True),) if self.step else ()

    @property
    def counts(self) -> Counts:
        return Counts(n_steps=self.step, n_forward_passes=self.step)

    def close(self) -> None:
        self.denoiser.closed.append(self.fill.request_id)
