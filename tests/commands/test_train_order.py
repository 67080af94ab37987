"""How a run begins and goes on: what its folder keeps, then what the command line says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import frozen

from engine.commands.errors import BadInputError
from engine.commands.train_order import Asked, Order, Sitting, begin, reopen
from engine.training.loop import LoopSettings
from engine.training.run_folder import RunError
from engine.training.schedule import Schedule


@frozen
class Recipe:
    seed: int = 0
    rank: int = 16


def default_of(kind: str) -> Recipe:
    return Recipe()


def asked(out: Path, *, resume: bool = False, **other: Any) -> Asked:
    said = {"steps": None, "minutes": None, "seed": None, "changes": (), "names": {}, "paths": {}}
    return Asked(out, resume, **{**said, **other})


def begun(path: Path, **other: Any) -> Order:
    """A run with a checkpoint."""
    order = begin(asked(path, **{"steps": 30, "paths": {"data": Path("x.safetensors")}, **other}), "adapt", default_of)
    order.folder.open({"objective": "adapt", **attrs.asdict(order.settings)})
    order.folder.note_sitting(attrs.asdict(order.sitting))
    return order


def test_a_new_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    order = begin(
        asked(
            Path("run"),
            steps=30,
            seed=7,
            changes=["rank=4", "clip=0.5"],
            names={"model": "tiny", "device": None},
            paths={"data": Path("all.safetensors"), "valid": None},
        ),
        "adapt",
        default_of,
    )
    assert order.settings == Recipe(seed=7, rank=4)
    assert order.folder.path == tmp_path / "run"
    assert order.sitting == Sitting(
        model="tiny",
        data=str(tmp_path / "all.safetensors"),
        valid=str(tmp_path / "all-valid.safetensors"),
        loop=LoopSettings(schedule=Schedule(steps=30), clip=0.5),
    )


def test_a_run_goes_on_as_it_was(tmp_path: Path) -> None:
    first = begun(tmp_path / "run", seed=3, changes=["rank=4", "checkpoint_minutes=1"], names={"device": "cpu"})
    assert begin(asked(tmp_path / "run", resume=True), "adapt", default_of) == first
    longer = begin(asked(tmp_path / "run", resume=True, steps=60, names={"device": "cuda"}), "adapt", default_of)
    assert longer.sitting == attrs.evolve(
        first.sitting, device="cuda", loop=attrs.evolve(first.sitting.loop, schedule=Schedule(steps=60))
    )
    assert reopen(tmp_path / "run", default_of, None) == first
    assert reopen(tmp_path / "run", default_of, "cuda").sitting.device == "cuda"


def test_resume_where_nothing_is_begins(tmp_path: Path) -> None:
    assert begin(asked(tmp_path / "run", resume=True, steps=3), "adapt", default_of).settings == Recipe()


def test_what_can_not_be(tmp_path: Path) -> None:
    begun(tmp_path / "run")
    with pytest.raises(BadInputError, match="holds a run already: --resume"):
        begin(asked(tmp_path / "run", steps=30), "adapt", default_of)
    with pytest.raises(BadInputError, match=r"of another kind .adapt."):
        begin(asked(tmp_path / "run", steps=30, resume=True), "tiny", default_of)
    with pytest.raises(BadInputError, match="say when to end"):
        begin(asked(tmp_path / "new"), "adapt", default_of)
    with pytest.raises(RunError, match="holds no run"):
        reopen(tmp_path / "new", default_of, None)
    (tmp_path / "run" / "sitting.json").unlink()
    with pytest.raises(RunError, match="no checkpoint yet"):
        reopen(tmp_path / "run", default_of, None)
    (tmp_path / "run" / "run.json").write_text('{"objective": "adapt", "rank": "many"}')
    with pytest.raises(RunError, match=r"can't be read .must be a whole number"):
        begin(asked(tmp_path / "run", steps=30, resume=True), "adapt", default_of)
    (tmp_path / "run" / "run.json").write_text('{"objective"')
    with pytest.raises(RunError, match=r"run\.json can't be read"):
        begin(asked(tmp_path / "run", steps=30, resume=True), "adapt", default_of)
