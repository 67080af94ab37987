"""The adaptation of a causal model, trained for as long as there is time. Owns: that section."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Final

import torch

from engine.config import EngineConfig
from engine.training.adapt import Adaptation, AdaptationSettings
from engine.training.examples import ExampleSet
from engine.training.run_folder import RunFolder
from engine.training.slips import Slips
from gpu_runs.data import Data
from gpu_runs.names import ADAPT
from gpu_runs.paced import Stop, deliver, run, step_seconds, steps_within
from gpu_runs.record import Record
from gpu_runs.sections import Clock, told

_TRIAL: Final = 4
_MICRO: Final = 8
"""Steps of a try without a GPU, at most."""
_JUDGED: Final = 0.25
"""Share of the time for judging the result."""


def train_adapt(
    record: Record, clock: Clock, base: Path, base_name: str, data: Data, out: Path, device: str, micro: bool
) -> None:
    """Time a few steps, then go on with as many as fit."""
    stop = Stop()
    if micro:
        torch.set_num_threads(1)  # such steps are too short to share
    train, valid = ExampleSet.open(data.adapt), ExampleSet.open(data.adapt_valid)
    for examples in (train, valid):
        examples.check(base)
    chosen = torch.device(device)
    dtype = torch.bfloat16 if chosen.type == "cuda" else torch.float32
    sizes = AdaptationSettings(rank=4, region=8, near_suffix=4, examples=2, canvases=2, valid=4, opening=4)
    if not micro:
        sizes = AdaptationSettings(examples=32, together=32, canvases=8, lr=6e-4, opening=60, valid=128)
    slips = Slips(base)
    with tempfile.TemporaryDirectory() as root:
        folder = RunFolder(Path(root) / "run")
        objective = Adaptation(base, base_name, train, valid, sizes, slips, chosen, dtype)
        took = step_seconds(objective, folder, _TRIAL)
        per_step = statistics.median(took[1:])
        seconds = clock.left * (1 - _JUDGED)
        n_steps = _TRIAL + (min(_MICRO, steps_within(seconds, per_step)) if micro else steps_within(seconds, per_step))
        record.put(ADAPT, base=base_name, step_s=per_step, examples=len(train), planned_steps=n_steps)
        told(f"{ADAPT}: {per_step:.3f} s a step, {n_steps} steps planned")
        run(ADAPT, record, objective, folder, n_steps, seconds, stop)
        ways = {
            policy: EngineConfig(device=device, policy=policy, copies="off")  # copied text would hide the model
            for policy in ("free", "verified")
        }
        deliver(ADAPT, record, clock, objective, folder, out, data.cases, ways)
