"""Denoising steps on packed canvases, as the engine runs them. Owns: a model's own results while it is trained.

Must not know: losses. The decision of a step is the engine's own (`engine.denoisers.sampler`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from attrs import define, frozen
from numpy.typing import NDArray
from torch import Tensor

from engine.denoisers.sampler import Decision, SamplerSettings, decide
from engine.training.sheets import Ints, Sheet

_BANNED: Final = -torch.inf


@frozen(eq=False)
class Grid:
    """The regions of a sheet, one a row."""

    index: Ints
    """Cells, counted through the sheet, `[regions, widest]`; 0 where a region is narrower."""
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, sheet: Sheet) -> Grid:
        """All regions of a sheet."""
        flat = np.flatnonzero(sheet.free)
        rows = flat // sheet.free.shape[1]
        keys = rows * (int(sheet.canvases.max()) + 1) + sheet.canvases.reshape(-1)[flat]
        _, first, counts = np.unique(keys, return_index=True, return_counts=True)
        widest = int(counts.max()) if len(counts) else 0
        along = np.arange(widest)
        free = along < counts[:, None]
        return cls(np.where(free, flat[first][:, None] + along, 0), free)


@define(eq=False)
class State:
    """Canvases between two steps."""

    cells: Tensor
    """`[rows, cells]`."""
    soft: Tensor
    """What they are conditioned on, `[rows, cells, hidden]`."""
    step: int = 0
    """Steps that were made."""


class Rollout:
    """Denoises the canvases of one sheet."""

    def __init__(
        self,
        grid: Grid,
        decode: Callable[[Tensor, Tensor], Tensor],
        logits: Callable[[Tensor], Tensor],
        soft: Callable[[Tensor], Tensor],
        banned: Tensor,
        noise: Ints,
        settings: SamplerSettings,
        rng: np.random.Generator,
    ) -> None:
        """`decode`: cells and conditioning to hidden states; `logits`: of those; `soft`: of probabilities."""
        self._decode, self._logits, self._soft, self._banned = decode, logits, soft, banned
        self._noise, self._settings, self._rng = noise, settings, rng
        device = banned.device
        self.index, self.free = torch.from_numpy(grid.index).to(device), torch.from_numpy(grid.free).to(device)

    @torch.no_grad()
    def step(self, state: State) -> tuple[State, Decision]:
        """One denoising step."""
        s = self._settings
        hidden = self._decode(state.cells, state.soft).flatten(0, 1)
        logits = self._logits(hidden[self.index])
        logits[..., self._banned] = _BANNED
        shape = tuple(self.free.shape)
        uniform = torch.from_numpy(self._rng.random(shape)).to(logits.device)
        renoise = torch.from_numpy(self._rng.choice(self._noise, shape)).to(logits.device)
        temperature = s.temperature(min(state.step + 1, s.max_steps))
        decision = decide(logits, temperature, s.entropy_bound, uniform, renoise, self.free)
        cells, soft = state.cells.clone(), state.soft.clone()
        where = self.index[self.free]
        cells.view(-1)[where] = decision.canvas[self.free]
        soft.view(-1, soft.shape[-1])[where] = self._soft(decision.probabilities)[self.free].to(soft.dtype)
        return State(cells, soft, state.step + 1), decision

    def finish(self, state: State) -> tuple[Tensor, Tensor]:
        """Step until every region has converged or the steps are used up.

        Returns the regions `[regions, widest]`, and the steps each took `[regions]`.
        """
        found = torch.full(self.free.shape, -1, device=self.free.device)
        steps = torch.zeros(len(found), device=self.free.device)
        live = torch.ones(len(found), dtype=torch.bool, device=self.free.device)
        while bool(live.any()) and state.step < self._settings.max_steps:
            state, decision = self.step(state)
            same = ((decision.argmax == found) | ~self.free).all(-1)
            mean = (decision.entropy * self.free).sum(-1) / self.free.sum(-1)
            found = torch.where(live.unsqueeze(-1), decision.argmax, found)
            steps = torch.where(live, state.step, steps)
            live = live & ~(same & (mean < self._settings.confidence))
        return found, steps
