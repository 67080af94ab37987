"""A training run in view: what stands in the terminal, and how often a line is told without one."""

from __future__ import annotations

import io
import itertools
import math
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from engine.commands.sparkline import sparkline
from engine.commands.train_view import TrainView


def step(n: int, seconds: float, loss: float = 2.0, **figures: float) -> dict[str, Any]:
    return {"step": n, "seconds": seconds, "loss": loss, "lr": 4e-4, "norm": 1.0, "n_tokens": 300 * n, **figures}


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def drawn(view: TrainView, console: Console) -> str:
    with console.capture() as captured:
        console.print(view.drawn())
    return Text.from_ansi(captured.get()).plain


@pytest.mark.parametrize(
    ("values", "width", "bars"),
    [
        ([], 10, ""),
        ([1.0, 2.0], 0, ""),
        ([3.0, 3.0, 3.0], 10, "▁▁▁"),
        ([8.0, 1.0], 10, "█▁"),
        ([0.0, 2.0, 7.0, 7.0], 2, "▁█"),
        ([math.nan, 1.0, math.inf, 2.0], 10, "▁█"),
        (list(map(float, range(80))), 8, "▁▂▃▄▅▆▇█"),
    ],
)
def test_a_sparkline(values: list[float], width: int, bars: str) -> None:
    assert sparkline(values, width) == bars


def test_the_terminal_shows_the_figures_and_the_time_left() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    seconds = itertools.count(0.0, 0.5)
    with TrainView(console, "adapt tiny", n_steps=1000, clock=lambda: next(seconds)) as view:
        assert "starting" in drawn(view, console)
        for n in range(100):
            view.tell(step(n, 3.0 * (n + 1), loss=5 - n / 50, loss_all=3.0, right_all=0.25, agreed=1.5))
        view.tell({"step": 99, "seconds": 300.0, "valid": {"loss_all": 2.75, "right_all": 0.5}})
        view.saved_at(100)
        told = drawn(view, console)
    lines = {line[:14].strip(): line[14:].strip() for line in told.splitlines()}
    assert lines["adapt tiny"] == "step 100 of 1,000"
    assert lines["time"].endswith("0:05:00 in all, about 0:45:00 left")
    assert lines["loss"].startswith("3.210") and "█" in lines["loss"]
    assert "all 3.00" in told and "all 25.0%" in told and "1.50" in told
    assert lines["validation"] == "after step 100"
    assert "all 50.0%" in told
    assert lines["speed"] == "100 tokens/s, learning rate 0.0004"
    assert lines["checkpoint"] == "after step 100"
    assert all(len(line) <= 80 for line in told.splitlines())


def test_lines_now_and_then_without_a_terminal() -> None:
    console, now = Console(file=io.StringIO(), width=80), 0.0
    with TrainView(console, "adapt tiny", minutes=10, clock=lambda: now) as view:
        for n in range(100):
            now = float(n)
            view.tell(step(n, float(n), right_all=0.25))
        view.tell({"step": 99, "seconds": 99.0, "valid": {"loss_all": 2.75}})
        view.saved_at(100)
    assert printed(console).splitlines() == [
        "adapt tiny: step 1: loss 2.000, right all 25.0%, 0 tokens/s, learning rate 0.0004, about 0:10:00 left",
        "adapt tiny: step 31: loss 2.000, right all 25.0%, 300 tokens/s, learning rate 0.0004, about 0:09:30 left",
        "adapt tiny: step 61: loss 2.000, right all 25.0%, 300 tokens/s, learning rate 0.0004, about 0:09:00 left",
        "adapt tiny: step 91: loss 2.000, right all 25.0%, 300 tokens/s, learning rate 0.0004, about 0:08:30 left",
        "adapt tiny: step 100: validation by kind all 2.75",
        "adapt tiny: checkpoint after 100 steps",
    ]


def test_what_is_no_number_is_shown_as_such() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=30)
    view = TrainView(console, "run", before=[step(0, 1.0, loss=3.0)])
    view.tell(step(1, 2.0, loss=math.nan))
    assert "nan" in drawn(view, console)
    assert all(len(line) <= 30 for line in drawn(view, console).splitlines())
