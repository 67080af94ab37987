"""A sitting: it ends with a checkpoint and a picture, also after a signal, and has its folder to itself."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.commands.errors import CommandError
from engine.commands.stop_signals import StopSignals
from engine.commands.train_order import Order, Sitting
from engine.commands.train_sitting import StoppedError, alone, sit
from engine.training.loop import LoopSettings
from engine.training.objective import Piece
from engine.training.run_folder import RunFolder
from engine.training.schedule import Schedule
from tests.training.test_loop import Line


class Signalled(Line):
    """Sends this process a signal in the middle of a step."""

    def __init__(self, number: int, at: int) -> None:
        super().__init__()
        self._number, self._at = number, at

    def pieces(self, step: int) -> Iterator[Piece]:
        if step == self._at:
            os.kill(os.getpid(), self._number)
        return super().pieces(step)


def order(folder: Path, steps: int = 8) -> Order:
    loop = LoopSettings(schedule=Schedule(warm_up=2, steps=steps), validate_every=4)
    return Order("line", RunFolder(folder), Sitting(data="x", loop=loop), None)


def step_of(folder: Path) -> Any:
    state = RunFolder(folder).load(torch.device("cpu"))
    return None if state is None else state["step"]


def test_a_sitting_leaves_a_checkpoint_a_picture_and_how_it_was_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sit(Line(), order(tmp_path / "run")) == 8
    assert step_of(tmp_path / "run") == 8
    assert (tmp_path / "run" / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert RunFolder(tmp_path / "run").sitting()["data"] == "x"
    told = capsys.readouterr()
    assert told.out == ""
    assert "line run: step 1 of 8: loss" in told.err
    assert "line run: step 4 of 8: validation distance" in told.err
    assert "line run: checkpoint after 8 steps" in told.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_sitting_with_a_checkpoint(
    tmp_path: Path, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(StoppedError, match=f"stopped by {number.name} after 4 steps; .* --resume") as raised:
        sit(Signalled(number, 3), order(tmp_path / "run"))
    assert raised.value.code == 128 + number
    assert step_of(tmp_path / "run") == 4
    assert "stopping after this step" in capsys.readouterr().err
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    assert sit(Line(), order(tmp_path / "run")) == 8


def test_a_second_signal_means_what_it_did_before() -> None:
    asked: list[bool] = []
    with pytest.raises(KeyboardInterrupt), StopSignals(lambda: asked.append(True)) as signals:
        signal.raise_signal(signal.SIGINT)
        assert signals.asked and asked == [True]
        signal.raise_signal(signal.SIGINT)


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals(lambda: None) as signals:
            signal.raise_signal(signal.SIGHUP)
            assert not signals.asked
    finally:
        signal.signal(signal.SIGHUP, before)


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with alone(tmp_path), pytest.raises(CommandError, match="another midfill trains in"):
        sit(Line(), order(tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_picture_that_can_not_be_drawn_ends_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sit(Line(), order(tmp_path / "run", 4))
    (tmp_path / "run" / "curves.png.new").mkdir()
    assert sit(Line(), order(tmp_path / "run")) == 8
    assert "the curves can't be drawn" in capsys.readouterr().err
