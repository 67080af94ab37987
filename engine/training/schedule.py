"""Warm-up, stable, decay (WSD). Owns: the learning rate's factor at a step. Pure.

Nothing before the decay depends on the end (Hu et al., MiniCPM, arXiv 2404.06395): a run can be made longer while it is
stable, and its curve so far stays what it is.
"""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge, le


@frozen
class Schedule:
    """Steps of each stage."""

    warm_up: int = field(default=30, validator=ge(0))
    steps: int = field(default=0, validator=ge(0))
    """All steps; 0: no end is known, so nothing decays."""
    decay: float = field(default=0.2, validator=[ge(0.0), le(1.0)])
    """Share of the steps in which the rate falls linearly to 0."""

    def factor(self, step: int) -> float:
        """What the highest learning rate is multiplied by at `step` (the first is 0)."""
        rising = (step + 1) / (self.warm_up + 1)
        left = (self.steps - step) / max(1.0, self.steps * self.decay) if self.steps else 1.0
        return max(0.0, min(1.0, rising, left))
