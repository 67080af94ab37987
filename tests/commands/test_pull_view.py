"""A pull's progress: what can't be counted has no bar, and no line is wider than 80 columns."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from engine.commands.pull_view import PullView
from engine.models.progress import Progress

CONVERTING = "converting to an ordinary checkpoint (once, about a minute)"


def test_a_line_for_each_stage_without_a_terminal() -> None:
    console = Console(file=io.StringIO(), width=40)
    with PullView(console) as view:
        for progress in (
            Progress("asking"),
            Progress("piece 1", 1, 9),
            Progress("piece 1", 9, 9),
            Progress(CONVERTING),
        ):
            view.show(progress)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == f"asking\npiece 1\n{CONVERTING}\n"


def test_what_can_not_be_counted_has_no_bar() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    view = PullView(console)
    told = Progress("piece 6 of 6 from the package index", 400_000_000, 491_400_064)
    for progress, bar in ((Progress("asking"), False), (told, True), (Progress(CONVERTING), False)):
        view.show(progress)
        with console.capture() as captured:
            console.print(view.drawn())
        (line,) = Text.from_ansi(captured.get()).plain.splitlines()
        assert len(line) <= 80
        assert progress.stage in line
        assert ("━" in line, "400/491 MB" in line) == (bar, bar)
