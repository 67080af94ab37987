"""One sitting of a run, from its start to a checkpoint. Owns: what is shown meanwhile, what ends it, the picture.

Must not know: how objectives are made.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs
from rich.console import Console

from engine.commands.errors import CommandError
from engine.commands.stop_signals import StopSignals
from engine.commands.train_order import Order
from engine.commands.train_view import TrainView
from engine.training.curves import draw
from engine.training.loop import train
from engine.training.objective import Objective

PICTURE: Final = "curves.png"


class StoppedError(CommandError):
    """A signal ended the run, with a checkpoint."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.code = 128 + number  # as a shell reports a process that a signal ended


def sit(objective: Objective, order: Order) -> int:
    """Train until the end, in view; the steps done. Raises `RunError`, and `StoppedError` after a signal."""
    folder, loop = order.folder, order.sitting.loop
    title = f"{order.kind} {folder.path.name}"
    console = Console(stderr=True, highlight=False)
    view = TrainView(console, title, n_steps=loop.schedule.steps, minutes=loop.minutes, before=folder.entries())

    def saved_at(step: int) -> None:
        folder.note_sitting(attrs.asdict(order.sitting))
        try:
            draw(folder.entries(), folder.path / PICTURE, title)
        except OSError as error:  # a picture is no reason to end a run
            console.print(f"the curves can't be drawn: {error}", markup=False)
        view.saved_at(step)

    def on_ask() -> None:
        console.print("stopping after this step; a second time: at once, without a checkpoint", markup=False)

    with alone(folder.path), StopSignals(on_ask) as signals, view:
        n_steps = train(objective, folder, loop, view.tell, stop=lambda: signals.asked, saved_at=saved_at)
    if signals.number is not None:
        name = signal.Signals(signals.number).name
        told = f"stopped by {name} after {n_steps} steps; the checkpoint is in {folder.path}: --resume goes on with it"
        raise StoppedError(told, signals.number)
    return n_steps


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder: two runs in one would write over each other. The hold ends with the process."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CommandError(f"another midfill trains in {folder} now; wait for it, or name another folder") from None
        yield
    finally:
        os.close(descriptor)
