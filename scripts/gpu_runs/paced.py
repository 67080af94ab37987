"""A training run that ends when its time does. Owns: how many steps fit, what is kept of the run, and its pieces.

The learning rate must fall towards a known end, so steps are timed first. SIGTERM ends training after the step in hand:
what was learnt is still written.
"""

from __future__ import annotations

import itertools
import signal
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final

from engine.config import EngineConfig
from engine.denoisers.denoiser import DenoiserError
from engine.models.resolve import ModelNotFoundError
from engine.training.journal import is_step
from engine.training.loop import LoopSettings, averaged, export, means, train
from engine.training.objective import Objective
from engine.training.run_folder import RunFolder
from engine.training.schedule import Schedule
from gpu_runs.exact import exact
from gpu_runs.pieces import split
from gpu_runs.record import Record
from gpu_runs.sections import Clock, told

_SPARE: Final = 0.92
"""Share of the time that is planned: steps are not all as quick as those that were timed."""
_CURVE: Final = 200
"""Points of the loss curve that are kept."""
_VALIDATIONS: Final = 3
_WARM_UP: Final = 20


class Stop:
    """Whether the process was told to end."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True


def step_seconds(objective: Objective, folder: RunFolder, n_steps: int) -> list[float]:
    """Seconds of each of the run's first steps; the run can go on from there."""
    seen = [time.monotonic()]

    def tell(entry: Mapping[str, Any]) -> None:
        seen.append(time.monotonic())

    train(objective, folder, _settings(0, 0.0), tell, lambda: len(seen) > n_steps)
    return [later - earlier for earlier, later in itertools.pairwise(seen)]


def steps_within(seconds: float, per_step: float) -> int:
    """Steps that fit."""
    return max(1, int(_SPARE * seconds / max(1e-4, per_step)))


def run(
    section: str,
    record: Record,
    objective: Objective,
    folder: RunFolder,
    n_steps: int,
    train_s: float,
    stop: Stop,
) -> None:
    """Train until the steps or the seconds are used up; keeps the curve and the last figures."""
    every = max(1, n_steps // _VALIDATIONS)

    def tell(entry: Mapping[str, Any]) -> None:
        if "valid" in entry:
            told(f"{section}: after step {entry['step']}: {entry['valid']}")
            record.add(section, "validations", dict(entry))

    settings = _settings(n_steps, train_s / 60, every)
    done = train(objective, folder, settings, tell, lambda: stop.asked)
    entries = [entry for entry in folder.entries() if is_step(entry)]
    keep = max(1, len(entries) // _CURVE)
    names = ("step", "seconds", "loss", "lr", "n_tokens")
    curve = [
        {name: entry[name] for name in names} | {"loss": statistics.mean(e["loss"] for e in entries[i : i + keep])}
        for i, entry in enumerate(entries)
        if i % keep == 0
    ]
    last = entries[-1]
    record.put(
        section,
        steps=done,
        planned_steps=n_steps,
        train_s=last["seconds"],
        n_tokens=last["n_tokens"],
        tokens_per_s=round(last["n_tokens"] / max(1e-6, last["seconds"])),
        curve=curve,
    )


def deliver(
    section: str,
    record: Record,
    clock: Clock,
    objective: Objective,
    folder: RunFolder,
    out: Path,
    cases: Path | None,
    ways: Mapping[str, EngineConfig],
) -> None:
    """Write the averaged weights in pieces, then judge them: by validation examples, and by cases if there are any.

    `ways`: how the engine serves them, by name.
    """
    made = folder.path.parent / section
    export(objective, folder, made)
    pieces = split(made, out)
    record.put(section, pieces={piece.name: piece.stat().st_size for piece in pieces})
    with averaged(objective, folder):
        record.put(section, valid=means(objective.validate()))
    held_out: dict[str, Any] = {}
    for i, (way, config) in enumerate(ways.items() if cases is not None else ()):
        assert cases is not None
        try:
            held_out[way] = exact(made, cases, config, Clock.of(clock.left / (len(ways) - i)))
        except (DenoiserError, ModelNotFoundError) as error:  # the weights are written all the same
            held_out[way] = {"": {"error": str(error)[:300]}}
        record.put(section, held_out=held_out)
    told(f"{section}: {record.read()[section].get('valid')} {record.read()[section].get('held_out')}")


def _settings(n_steps: int, minutes: float, every: int = 0) -> LoopSettings:
    return LoopSettings(
        schedule=Schedule(warm_up=_WARM_UP, steps=n_steps, decay=0.3),
        average=0.99,
        minutes=minutes,
        checkpoint_minutes=60.0,
        validate_every=every,
    )
