"""The training loop. Owns: steps, schedule, average, checkpoints, when to stop. Must not know: models, examples.

Two runs from one seed give the same curve, and a resumed run equals an uninterrupted one: a step depends on its number
and on what the checkpoint keeps, on nothing else (tests/training/test_loop.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from attrs import field, frozen
from attrs.validators import ge

from engine.training.average import Average
from engine.training.objective import Figures, Objective
from engine.training.run_folder import RunError, RunFolder
from engine.training.schedule import Schedule

_PATIENCE: Final = 8
"""Steps in a row whose loss or gradient is no number, before the run gives up."""


@frozen
class LoopSettings:
    """How a run goes."""

    schedule: Schedule = field(factory=Schedule)
    average: float = 0.998
    """Decay of the moving average of weights, per step."""
    clip: float = 1.0
    """Longest gradient, as the norm over all weights."""
    minutes: float = field(default=0.0, validator=ge(0.0))
    """Stop after this long, to go on another time; 0: no limit."""
    checkpoint_minutes: float = 5.0
    validate_every: int = 100
    """Steps; 0: never."""
    snapshot_every: int = 0
    """Steps between checkpoints that are kept for the evaluation over training time; 0: none."""


Tell = Callable[[Mapping[str, Any]], None]
"""Takes each journal entry as it is written."""


def train(
    objective: Objective,
    folder: RunFolder,
    settings: LoopSettings,
    tell: Tell,
    stop: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
    saved_at: Callable[[int], None] = lambda step: None,
) -> int:
    """Train until the schedule's end, the time limit, or `stop`; leaves a checkpoint and returns the steps done.

    Goes on where the folder's checkpoint ended; `saved_at` is told each new one's step. Raises `RunError` when the
    folder holds another run or can't be written to, or when the loss stays no number.
    """
    fixed = {"warm_up": settings.schedule.warm_up, "average": settings.average, "clip": settings.clip}
    folder.open({**objective.settings, **fixed})  # the rest may change from one sitting to the next
    weights = objective.weights
    optimizers = objective.optimizers()
    highest = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]
    average = Average(weights, settings.average)
    step, seconds, n_tokens, n_bad = 0, 0.0, 0, 0
    device = next(iter(weights.values())).device
    if (state := folder.load(device)) is not None:
        step, seconds, n_tokens = state["step"], state["seconds"], state["n_tokens"]
        with torch.no_grad():
            for name, weight in weights.items():
                weight.copy_(state["weights"][name])
                average.tensors[name].copy_(state["average"][name])
        for optimizer, kept in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
    folder.cut_journal(step)

    def save() -> None:
        folder.save(
            {
                "step": step,
                "seconds": seconds,
                "n_tokens": n_tokens,
                "weights": {name: weight.detach() for name, weight in weights.items()},
                "average": average.tensors,
                "optimizers": [optimizer.state_dict() for optimizer in optimizers],
            }
        )
        saved_at(step)

    def note(entry: Mapping[str, Any]) -> None:
        folder.note(entry)
        tell(entry)

    started = saved = last = clock()
    while not (settings.schedule.steps and step >= settings.schedule.steps) and not stop():
        factor = settings.schedule.factor(step)
        for optimizer, rates in zip(optimizers, highest, strict=True):
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * factor
        figures: Figures = {}
        loss = 0.0
        for piece in objective.pieces(step):
            piece.loss.backward()  # type: ignore[no-untyped-call]
            loss += piece.loss.item()
            n_tokens += piece.n_tokens
            for name, (total, count) in piece.figures.items():
                before = figures.get(name, (0.0, 0.0))
                figures[name] = (before[0] + total, before[1] + count)
        norm = float(torch.nn.utils.clip_grad_norm_(list(weights.values()), settings.clip))
        sound = math.isfinite(loss) and math.isfinite(norm)
        if sound:
            for optimizer in optimizers:
                optimizer.step()
            average.update(weights, step)
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        n_bad = 0 if sound else n_bad + 1
        now = clock()
        seconds, last = seconds + now - last, now
        entry = {"step": step, "seconds": round(seconds, 2), "loss": loss, "lr": highest[0][0] * factor, "norm": norm}
        note({**entry, "n_tokens": n_tokens, **means(figures)})
        if n_bad >= _PATIENCE:
            raise RunError(f"{folder.path}: the loss was no number {n_bad} steps in a row; try a lower learning rate")
        step += 1
        if settings.validate_every and step % settings.validate_every == 0:
            with average.in_place(weights):
                found = objective.validate()
            note({"step": step - 1, "seconds": round(seconds, 2), "valid": means(found)})
        if settings.snapshot_every and step % settings.snapshot_every == 0:
            with average.in_place(weights):
                told = {"step": step, "seconds": round(seconds, 1), "n_tokens": n_tokens}
                objective.export(folder.snapshot(step), told)
        last = clock()  # what is not training does not count as such
        if last - saved >= 60 * settings.checkpoint_minutes:
            save()
            saved = last = clock()
        if settings.minutes and last - started >= 60 * settings.minutes:
            break
    save()
    return step


def means(figures: Figures) -> dict[str, float]:
    """The mean of each figure that anything was counted for."""
    return {name: total / count for name, (total, count) in figures.items() if count}


@contextmanager
def averaged(objective: Objective, folder: RunFolder) -> Iterator[dict[str, Any]]:
    """The averaged weights of the folder's checkpoint, in place; gives its step, seconds, tokens. Raises `RunError`."""
    weights = objective.weights
    state = folder.load(next(iter(weights.values())).device)
    if state is None:
        raise RunError(f"{folder.path} holds no checkpoint yet")
    average = Average(weights, 0.0)
    average.tensors = state["average"]
    with average.in_place(weights):
        yield {name: state[name] for name in ("step", "seconds", "n_tokens")}


def export(objective: Objective, folder: RunFolder, out: Path) -> None:
    """Write the averaged weights of the folder's checkpoint as a checkpoint that the engine loads."""
    with averaged(objective, folder) as told:
        objective.export(out, told)
