"""The losses of the tiny model's stages. Owns: what a sheet is worth. Must not know: steps, files, optimizers.

What each stage follows is said in `engine.training.tiny`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import torch
from attrs import frozen
from torch import Tensor

from engine.denoisers.sampler import SamplerSettings
from engine.training.objective import Figures
from engine.training.rollout import Grid, Rollout, State
from engine.training.sheets import Format, Ints, Sheet
from engine.training.tiny_batch import Batch, TinyNetwork


@frozen(eq=False)
class Aims:
    """What losses are made of."""

    sampler: SamplerSettings
    """How the model is served."""
    banned: Tensor
    """Tokens that no region may show."""
    form: Format
    conditioned: float
    """Share of sheets with self-conditioning."""
    next_weight: float
    """Weight of the next token beside canvases."""
    truth: float
    """Share of the true token in targets that are own results."""


class TinyLosses:
    """Losses of one network."""

    def __init__(self, net: TinyNetwork, aims: Aims) -> None:
        self._net, self._aims = net, aims

    def next(self, windows: Ints) -> tuple[Tensor, Figures]:
        """Of each next token of contexts `[rows, n]`."""
        losses = self._net.next_losses(torch.from_numpy(windows).to(self._net.device))
        return losses.mean(), {"loss_next": (float(losses.detach().sum()), losses.numel())}

    def canvas(self, sheet: Sheet, rng: np.random.Generator) -> tuple[Tensor, Figures]:
        """Of the true token at every cell."""
        net, aims = self._net, self._aims
        batch = Batch(sheet, net.device)
        hidden, kept = net.encode(batch)
        state = self._state(batch)
        if rng.random() < aims.conditioned:
            temperature = float(rng.uniform(aims.sampler.t_min, aims.sampler.t_max))
            with torch.no_grad():
                first = net.decode(batch, state.cells, state.soft, kept)
                believed = net.believed(first, aims.banned, temperature)
                state.soft = torch.where(batch.free.unsqueeze(-1), believed, net.embed(batch.cells))
        decoded = net.decode(batch, state.cells, state.soft, kept)
        losses, right = net.losses(decoded, batch.targets)
        loss, figures = self._with_next(batch, hidden, losses)
        add(figures, _by_level(sheet, losses.detach().cpu().numpy(), right.cpu().numpy()))
        return loss, figures

    def own(self, sheet: Sheet, rng: np.random.Generator) -> tuple[Tensor, Figures]:
        """Of what the model itself reaches some steps later, and of the true token, where it is by then."""
        grid = Grid.of(sheet)
        if not len(grid.index):
            return self.canvas(sheet, rng)
        net = self._net
        batch = Batch(sheet, net.device)
        hidden, kept = net.encode(batch)
        rollout = self._rollout(grid, batch, kept, rng)
        here = self._state(batch)
        for _ in range(int(rng.integers(0, 7))):
            here, _ = rollout.step(here)
        later = here
        for _ in range(int(rng.integers(2, 5))):
            later, decision = rollout.step(later)
        decoded = net.decode(batch, here.cells, here.soft, kept)
        losses, right = net.losses(decoded, batch.targets)
        reached = torch.zeros_like(losses)
        logits = net.logits(decoded.flatten(0, 1)[rollout.index[rollout.free]])
        own = -(decision.probabilities[rollout.free] * torch.log_softmax(logits, -1)).sum(-1)
        reached.view(-1)[rollout.index[rollout.free]] = own
        truth = self._aims.truth
        loss, figures = self._with_next(batch, hidden, truth * losses + (1 - truth) * reached)
        add(figures, _by_level(sheet, losses.detach().cpu().numpy(), right.cpu().numpy()))
        figures["loss_own"] = (float(own.detach().sum()), own.numel())
        return loss, figures

    @torch.no_grad()
    def sampled(self, sheet: Sheet, rng: np.random.Generator) -> Figures:
        """How the engine's own loop does on a sheet's holes, from noise alone: exact match in tokens, steps."""
        noise = self._aims.form.noise
        drawn = noise[rng.integers(0, len(noise), sheet.cells.shape)]
        fresh = attrs.evolve(sheet, cells=np.where(sheet.free, drawn, sheet.cells))
        grid = Grid.of(attrs.evolve(fresh, free=fresh.free & fresh.holes))
        if not len(grid.index):
            return {}
        batch = Batch(fresh, self._net.device)
        _, kept = self._net.encode(batch)
        regions, steps = self._rollout(grid, batch, kept, rng).finish(self._state(batch))
        right = 0
        for region, true, free in zip(regions.tolist(), sheet.targets.reshape(-1)[grid.index], grid.free, strict=True):
            n, fill = int(free.sum()), self._aims.form.fill
            right += _text(region[:n], fill) == _text(true[:n].tolist(), fill)
        return {"exact": (float(right), len(regions)), "steps": (float(steps.sum()), len(regions))}

    def _with_next(self, batch: Batch, hidden: Tensor, losses: Tensor) -> tuple[Tensor, Figures]:
        following, _ = self._net.losses(hidden, batch.following)
        n = batch.counts.sum().clamp_min(1.0)
        total = (following * batch.counts).sum()
        loss = (losses * batch.weights).sum() / batch.weights.sum().clamp_min(1e-6)
        return loss + self._aims.next_weight * total / n, {"loss_next": (float(total.detach()), float(n))}

    def _state(self, batch: Batch) -> State:
        shape = (*batch.cells.shape, self._net.hidden)
        return State(batch.cells, torch.zeros(shape, device=self._net.device))

    def _rollout(self, grid: Grid, batch: Batch, kept: Any, rng: np.random.Generator) -> Rollout:
        net = self._net
        known = net.embed(batch.cells).detach()

        def decode(cells: Tensor, soft: Tensor) -> Tensor:
            # clamped cells are conditioned on what is known, from the second step on
            later = bool(soft.any())
            return net.decode(batch, cells, torch.where(batch.free.unsqueeze(-1), soft, known) if later else soft, kept)

        return Rollout(
            grid, decode, net.logits, net.soft, self._aims.banned, self._aims.form.noise, self._aims.sampler, rng
        )


def _by_level(sheet: Sheet, losses: Any, right: Any) -> Figures:
    """Loss and accuracy of noised cells up to the first fill, by noise level; and of holes alone."""
    hard = sheet.weights >= 1.0
    high, holes = sheet.levels >= 0.5, sheet.holes
    found: Figures = {}
    for name, chosen in (("high", hard & high), ("low", hard & ~high), ("holes", hard & holes)):
        n = float(chosen.sum())
        found[f"loss_{name}"] = (float(losses[chosen].sum()), n)
        found[f"right_{name}"] = (float(right[chosen].sum()), n)
    return found


def add(found: Figures, more: Figures) -> None:
    """Take in `more`."""
    for name, (total, count) in more.items():
        before = found.get(name, (0.0, 0.0))
        found[name] = (before[0] + total, before[1] + count)


def _text(region: Sequence[int], fill: int) -> list[int]:
    return list(region[: [*region, fill].index(fill)])
