"""A pull's progress in a terminal, or a line for each stage where there is none. Owns: how a stage is drawn.

Must not know: what the stages are.
"""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Column
from rich.text import Text

from engine.models.progress import Progress


class PullView:
    """One pull. A stage that can be counted gets a bar, any other a spinner; both fit into 80 columns."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._stage: tuple[str, bool] | None = None
        stage = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis"))
        self._counted = (stage, BarColumn(bar_width=10), _Amount(), TimeElapsedColumn())
        self._uncounted = (SpinnerColumn(), stage, TimeElapsedColumn())
        self._bar = Bar(console=console, transient=True)
        self._task = self._bar.add_task("starting", total=None)

    def __enter__(self) -> PullView:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        """Draw this moment."""
        stage = (progress.stage, progress.n_total > 0)
        if stage != self._stage:
            if not self._console.is_terminal and (self._stage is None or self._stage[0] != progress.stage):
                self.note(progress.stage)
            self._stage = stage
            # a task's total can't be taken back once it has one: a stage is a task of its own
            self._bar.remove_task(self._task)
            self._bar.columns = self._counted if progress.n_total else self._uncounted
            self._task = self._bar.add_task(progress.stage, total=progress.n_total or None, completed=progress.n_done)
        self._bar.update(self._task, completed=progress.n_done)

    def drawn(self) -> RenderableType:
        """What the terminal shows now."""
        return self._bar.get_renderable()

    def note(self, told: str) -> None:
        """Say something that stays."""
        self._console.print(told, markup=False, soft_wrap=not self._console.is_terminal)


class _Amount(ProgressColumn):
    """Megabytes so far, of all, and in a second."""

    def render(self, task: Task) -> Text:
        speed = f" {task.speed / 1e6:5.1f} MB/s" if task.speed and not task.finished else ""
        return Text(f"{task.completed / 1e6:.0f}/{(task.total or 0) / 1e6:.0f} MB{speed}", no_wrap=True)
