"""The training loop: the same curve from the same seed, resumed or not, and nothing lost on the way."""

from __future__ import annotations

import errno
import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from engine.training.loop import LoopSettings, export, train
from engine.training.objective import Figures, Piece
from engine.training.run_folder import RunError, RunFolder
from engine.training.schedule import Schedule


class Line:
    """A straight line through noisy points."""

    def __init__(self, seed: int = 0, breaks_at: int = -1) -> None:
        self._seed, self._breaks_at = seed, breaks_at
        self.weight = nn.Parameter(torch.zeros(3))

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"objective": "line", "seed": self._seed}

    @property
    def weights(self) -> Mapping[str, Tensor]:
        return {"weight": self.weight}

    def optimizers(self) -> list[Optimizer]:
        return [torch.optim.AdamW([self.weight], lr=0.1)]

    def pieces(self, step: int) -> Iterator[Piece]:
        for part in range(2):
            points = torch.randn(8, 3, generator=torch.Generator().manual_seed(1000 * self._seed + 2 * step + part))
            error = (points @ (self.weight - torch.tensor([1.0, -2.0, 3.0]))) ** 2
            bad = 0 <= self._breaks_at <= step
            yield Piece(error.mean() / 2 * (torch.nan if bad else 1), {"error": (error.sum().item(), 8)}, 8)

    def validate(self) -> Figures:
        return {"distance": (float((self.weight.detach() - torch.tensor([1.0, -2.0, 3.0])).norm()), 1)}

    def export(self, folder: Path, told: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True)
        (folder / "line.json").write_text(json.dumps({"weight": self.weight.tolist(), **told}))


def curve(folder: RunFolder) -> list[tuple[int, float, float]]:
    return [(e["step"], e["loss"], e["norm"]) for e in folder.entries() if "loss" in e]


def run(path: Path, steps: int, stop_after: int = 10_000, seed: int = 0, **changes: Any) -> RunFolder:
    told: list[Mapping[str, Any]] = []
    folder = RunFolder(path)
    settings = LoopSettings(schedule=Schedule(warm_up=3, steps=steps), validate_every=5, **changes)
    train(Line(seed), folder, settings, told.append, stop=lambda: sum("loss" in e for e in told) >= stop_after)
    return folder


def test_the_same_seed_gives_the_same_curve_and_another_seed_another(tmp_path: Path) -> None:
    first, again, other = (curve(run(tmp_path / n, 20, seed=seed)) for n, seed in (("a", 0), ("b", 0), ("c", 1)))
    assert first == again
    assert first != other
    assert len(first) == 20
    assert first[-1][1] < first[0][1] / 4


def test_a_resumed_run_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", 20)
    for _ in range(4):
        parts = run(tmp_path / "parts", 20, stop_after=6)
    assert curve(parts) == curve(whole)
    device = torch.device("cpu")
    a, b = whole.load(device), parts.load(device)
    assert a is not None and b is not None
    assert torch.equal(a["average"]["weight"], b["average"]["weight"])
    assert a["n_tokens"] == b["n_tokens"] == 20 * 16


def test_what_came_after_the_checkpoint_comes_again(tmp_path: Path) -> None:
    """A crash: the journal is ahead of the checkpoint, and its last line is cut."""
    folder = run(tmp_path / "run", 20, stop_after=6)
    for step in (6, 7):
        folder.note({"step": step, "loss": 99.0, "norm": 1.0})
    with folder.journal.open("a") as file:
        file.write('{"step": 8, "lo')
    run(tmp_path / "run", 20)
    assert curve(folder) == curve(run(tmp_path / "whole", 20))


def test_a_crash_before_the_first_checkpoint_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 20, stop_after=6)
    (folder.path / "state.pt").unlink()
    with folder.journal.open("a") as file:
        file.write('{"step": 6, "lo')
    run(tmp_path / "run", 20)
    assert curve(folder) == curve(run(tmp_path / "whole", 20))


def test_checkpoints_are_told(tmp_path: Path) -> None:
    settings = LoopSettings(Schedule(steps=6), validate_every=0, checkpoint_minutes=0.0)
    steps: list[int] = []
    train(Line(), RunFolder(tmp_path / "run"), settings, lambda entry: None, saved_at=steps.append)
    assert steps == [1, 2, 3, 4, 5, 6, 6]


def test_the_rate_warms_up_stays_and_falls(tmp_path: Path) -> None:
    schedule = Schedule(warm_up=4, steps=100, decay=0.2)
    factors = [schedule.factor(step) for step in range(100)]
    assert factors[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert set(factors[5:80]) == {1.0}
    assert all(a > b for a, b in itertools.pairwise(factors[81:]))
    assert 0 < factors[-1] < 0.1
    assert Schedule(warm_up=4, steps=200).factor(50) == Schedule(warm_up=4).factor(50) == 1.0


def test_a_folder_takes_no_other_run(tmp_path: Path) -> None:
    run(tmp_path / "run", 4)
    with pytest.raises(RunError, match=r"holds another run .seed: 0 there, 1 now"):
        run(tmp_path / "run", 4, seed=1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    with pytest.raises(RunError, match="not empty"):
        run(tmp_path / "full", 4)
    assert (tmp_path / "full" / "letter.txt").read_text() == "dear"


def test_a_broken_checkpoint_is_told(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 4)
    (folder.path / "state.pt").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(RunError, match=r"state\.pt can't be read"):
        run(tmp_path / "run", 8)


def test_a_full_disk_is_told_and_the_checkpoint_before_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(tmp_path / "run", 4)

    def full(state: object, file: Any) -> None:
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        except OSError:
            raise RuntimeError("enforce fail at inline_container.cc:672") from None  # as torch does

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(RunError, match=r"state\.pt can't be written .No space left on device.; the checkpoint before"):
        run(tmp_path / "run", 8)
    state = folder.load(torch.device("cpu"))
    assert state is not None and state["step"] == 4
    assert not (folder.path / "state.new").exists()


def test_a_loss_that_stays_no_number_ends_the_run(tmp_path: Path) -> None:
    folder, objective = RunFolder(tmp_path / "run"), Line(breaks_at=3)
    with pytest.raises(RunError, match="no number 8 steps in a row"):
        train(objective, folder, LoopSettings(schedule=Schedule(steps=50), validate_every=0), lambda entry: None)
    assert torch.isfinite(objective.weight).all()


def test_snapshots_and_the_export_hold_the_averaged_weights(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", 12, snapshot_every=5, average=0.5)
    assert sorted(p.name for p in (folder.path / "snapshots").iterdir()) == ["step-000005", "step-000010"]
    objective = Line()
    export(objective, folder, tmp_path / "out")
    written = json.loads((tmp_path / "out" / "line.json").read_text())
    state = folder.load(torch.device("cpu"))
    assert state is not None
    assert written["weight"] == state["average"]["weight"].tolist()
    assert written["step"] == 12
    assert objective.weight.tolist() == [0, 0, 0]
    valid = [entry["valid"]["distance"] for entry in folder.entries() if "valid" in entry]
    assert len(valid) == 2 and valid[1] < valid[0]
