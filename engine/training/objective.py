"""What a training run trains. Owns: the one interface between the loop and a recipe. Must not know: files, time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen
from torch import Tensor
from torch.optim import Optimizer

Figures = dict[str, tuple[float, float]]
"""Measured values by name, each a sum and what it is a sum over: `{"loss": (412.5, 130)}` is a mean of 3.17."""


@frozen(eq=False)
class Piece:
    """One micro-batch of a step."""

    loss: Tensor
    """A scalar, scaled so that the sum over a step's pieces is the step's loss."""
    figures: Figures
    n_tokens: int
    """Cells and prompt tokens that the model was run over, for the throughput."""


class Objective(Protocol):
    """A model in training, and what a step's loss is.

    All chance comes from `(seed, step)`, never from a generator that lives on: so that a resumed run equals an
    uninterrupted one.
    """

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that makes this run what it is, as plain values for JSON; a run folder takes no other."""
        ...

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The trainable parameters by name, in float32."""
        ...

    def optimizers(self) -> list[Optimizer]:
        """New optimizers over the weights; the learning rate of every group is the schedule's highest."""
        ...

    def pieces(self, step: int) -> Iterator[Piece]:
        """The micro-batches of a step (the first is 0). The loop runs `backward` on each before it takes the next."""
        ...

    def validate(self) -> Figures:
        """Figures on examples that are never trained on; runs with the averaged weights in place."""
        ...

    def export(self, folder: Path, told: Mapping[str, Any]) -> None:
        """Write the present weights as a checkpoint that the engine loads. `told`: step, seconds, ... of training."""
        ...
