"""The moving average of weights (EMA), which is what a run exports. Owns: the averaged tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor


class Average:
    """Averages of named weights. The decay warms up, so that a short run does not export its start."""

    def __init__(self, weights: Mapping[str, Tensor], decay: float) -> None:
        self.decay = decay
        self.tensors = {name: weight.detach().clone() for name, weight in weights.items()}

    @torch.no_grad()
    def update(self, weights: Mapping[str, Tensor], step: int) -> None:
        """Take in the weights after `step` (the first is 0)."""
        decay = min(self.decay, (1 + step) / (10 + step))
        for name, weight in weights.items():
            self.tensors[name].lerp_(weight.detach(), 1 - decay)

    @contextmanager
    def in_place(self, weights: Mapping[str, Tensor]) -> Iterator[None]:
        """Put the averages into the weights, and the weights back afterwards."""
        kept = {name: weight.detach().clone() for name, weight in weights.items()}
        with torch.no_grad():
            for name, weight in weights.items():
                weight.copy_(self.tensors[name])
        try:
            yield
        finally:
            with torch.no_grad():
                for name, weight in weights.items():
                    weight.copy_(kept[name])
