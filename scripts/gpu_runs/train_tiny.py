"""The tiny model, trained for as long as there is time. Owns: that section."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Final

import torch

from engine.config import EngineConfig
from engine.models.catalog import BUNDLED_DIR
from engine.training.examples import ExampleSet
from engine.training.run_folder import RunFolder
from engine.training.sheets import SheetShape
from engine.training.tiny import Stage, TinySettings, TinyTraining
from engine.training.token_shard import TokenShard
from gpu_runs.data import Data
from gpu_runs.paced import Stop, deliver, run, step_seconds, steps_within
from gpu_runs.record import Record
from gpu_runs.sections import Clock, told

_TRIAL: Final = 9
"""Steps that are timed: some of each stage."""
_MICRO: Final = 12
"""Steps of a try without a GPU, at most."""
_JUDGED: Final = 0.2
"""Share of the time for judging the result."""


def train_tiny(
    record: Record,
    clock: Clock,
    section: str,
    size: str,
    data: Data,
    out: Path,
    device: str,
    micro: bool,
    compiled: bool,
) -> None:
    """Time a few steps of each stage, then train as many as fit."""
    stop = Stop()
    if micro:
        torch.set_num_threads(1)  # such steps are too short to share
    tokens = TokenShard.open(data.tokens)
    train, valid = ExampleSet.open(data.tiny), ExampleSet.open(data.tiny_valid)
    for examples in (train, valid):
        examples.check(BUNDLED_DIR)
    shape = SheetShape(rows=2, tokens=160, cells=128) if micro else SheetShape(rows=96)

    def objective(n_steps: int, next_share: float = 0.5, own_share: float = 0.08) -> TinyTraining:
        settings = TinySettings(
            steps=n_steps,
            size=size,
            shape=shape,
            next_share=next_share,
            own_share=own_share,
            valid=4 if micro else 192,
        )
        chosen = torch.device(device)
        return TinyTraining(
            BUNDLED_DIR, tokens, train, valid, settings, chosen, half=chosen.type == "cuda", compiled=compiled
        )

    with tempfile.TemporaryDirectory() as root:
        trial = objective(_TRIAL, 1 / 3, 1 / 3)
        took = step_seconds(trial, RunFolder(Path(root) / "trial"), _TRIAL)
        third = _TRIAL // 3
        by_stage = {
            stage: statistics.median(took[i * third + 1 : (i + 1) * third])  # the first of a stage is slow
            for i, stage in enumerate(Stage)
        }
        del trial
        plan = TinySettings()
        shares = (plan.next_share, 1 - plan.next_share - plan.own_share, plan.own_share)
        per_step = sum(share * by_stage[stage] for share, stage in zip(shares, Stage, strict=True))
        seconds = clock.left * (1 - _JUDGED)
        n_steps = min(_MICRO, steps_within(seconds, per_step)) if micro else steps_within(seconds, per_step)
        per_stage = {stage.value: round(one, 4) for stage, one in by_stage.items()}
        record.put(
            section, size=size, rows=shape.rows, step_s=per_stage, corpus_tokens=len(tokens), examples=len(train)
        )
        told(f"{section}: {per_stage} s a step, {n_steps} steps planned")
        real, folder = objective(n_steps), RunFolder(Path(root) / "run")
        run(section, record, real, folder, n_steps, seconds, stop)
        deliver(section, record, clock, real, folder, out, data.cases, {"as served": EngineConfig(device=device)})
