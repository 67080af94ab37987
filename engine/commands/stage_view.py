"""Long work in stages: a bar for each in a terminal, else a line. Owns: how a stage is drawn."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column


class StageView:
    """Stages, one after the other."""

    def __init__(self, console: Console) -> None:
        self._console = console
        told = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
        columns = (told, BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self._bars = Progress(*columns, console=console, disable=not console.is_terminal)
        self._stage = ""

    def __enter__(self) -> StageView:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def show(self, stage: str, n_done: int, n_total: int, detail: str = "") -> None:
        """Draw this moment. `detail` follows the stage's name where it is drawn."""
        if stage != self._stage:
            self._stage = stage
            self._task = self._bars.add_task(stage)
            if not self._console.is_terminal:
                self.note(stage)
        described = f"{stage}: {detail}" if detail else stage
        self._bars.update(self._task, description=described, completed=n_done, total=n_total)

    def note(self, told: str) -> None:
        """Say something that stays."""
        self._console.print(told, markup=False, soft_wrap=not self._console.is_terminal)
