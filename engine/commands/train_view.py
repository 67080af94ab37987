"""A training run in a terminal, or lines now and then where there is none. Owns: how its figures are drawn.

Must not know: models, files. It is told what the journal is told.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table

from engine.commands.sparkline import sparkline
from engine.training.journal import LOSS, RIGHT, grouped, is_step

_LINE_S: Final = 30.0
"""Between two lines, where there is no terminal."""
_PERIOD_S: Final = 0.25
"""Between two pictures; steps of a tiny model are quicker."""
_RECENT: Final = 20
"""Steps whose mean is shown: one step's figures jump."""
_LABEL: Final = 14
_NARROWEST: Final = 10


class TrainView:
    """One sitting of one run."""

    def __init__(
        self,
        console: Console,
        title: str,
        *,
        n_steps: int = 0,
        minutes: float = 0.0,
        before: Iterable[Mapping[str, Any]] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`n_steps`, `minutes`: where the run ends, 0 where it does not. `before`: the journal of earlier sittings."""
        self._console, self._title, self._n_steps, self._minutes = console, title, n_steps, minutes
        self._clock = clock
        self._started = clock()
        self._drawn_at = -math.inf
        self._losses = [entry["loss"] for entry in before if is_step(entry)]
        self._recent: deque[Mapping[str, Any]] = deque(maxlen=_RECENT)
        self._valid: Mapping[str, Any] = {}
        self._saved: int | None = None
        self._live = Live(self.drawn(), console=console, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> TrainView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.update(self.drawn(), refresh=True)
            self._live.stop()

    def tell(self, entry: Mapping[str, Any]) -> None:
        """Take in a journal's entry."""
        if is_step(entry):
            self._recent.append(entry)
            self._losses.append(entry["loss"])
            self._show(lambda: self._line(entry["step"], self._step_told()))
        elif "valid" in entry:
            self._valid = entry
            self._show(lambda: self._line(entry["step"], f"validation {_told(entry['valid'])}"), now=True)

    def saved_at(self, step: int) -> None:
        """Take in that there is a checkpoint of the first `step` steps."""
        self._saved = step
        self._show(lambda: f"{self._title}: checkpoint after {step} steps", now=True)

    def drawn(self) -> RenderableType:
        """What the terminal shows now."""
        table = Table.grid(padding=(0, 2))
        table.add_column(width=_LABEL, no_wrap=True, style="dim")
        table.add_column(overflow="fold")
        last = self._recent[-1] if self._recent else None
        of = f" of {self._n_steps:,}" if self._n_steps else ""
        table.add_row(self._title, f"step {last['step'] + 1:,}{of}" if last else "starting")
        if last is None:
            return table
        left = self._left()
        ending = f", about {_duration(left)} left" if left is not None else ""
        table.add_row(
            "time", f"{_duration(self._clock() - self._started)}, {_duration(last['seconds'])} in all{ending}"
        )
        bars = sparkline(self._losses, max(self._console.width - _LABEL - 12, _NARROWEST))
        table.add_row("loss", f"{self._mean('loss'):.3f}  {bars}")
        for group, kinds in grouped(self._means()).items():
            table.add_row(f"  {_name(group)}", _kinds(group, kinds))
        if self._valid:
            table.add_row("validation", f"after step {self._valid['step'] + 1:,}")
            for group, kinds in grouped(self._valid["valid"]).items():
                table.add_row(f"  {_name(group)}", _kinds(group, kinds))
        table.add_row("speed", f"{self._speed():,.0f} tokens/s, learning rate {last['lr']:.2g}")
        table.add_row("checkpoint", f"after step {self._saved:,}" if self._saved is not None else "not yet")
        return table

    def _show(self, line: Callable[[], str], now: bool = False) -> None:
        moment = self._clock()
        if not now and moment - self._drawn_at < (_PERIOD_S if self._live is not None else _LINE_S):
            return
        if self._live is not None:
            self._live.update(self.drawn(), refresh=True)
        else:
            self._console.print(line(), markup=False, soft_wrap=True)
        if self._live is not None or not now:  # a validation's line is no reason to leave out a step's
            self._drawn_at = moment

    def _line(self, step: int, told: str) -> str:
        of = f" of {self._n_steps}" if self._n_steps else ""
        return f"{self._title}: step {step + 1}{of}: {told}"

    def _step_told(self) -> str:
        left = self._left()
        figures = _told(self._means())
        return ", ".join(
            (
                f"loss {self._mean('loss'):.3f}",
                *([figures] if figures else []),
                f"{self._speed():.0f} tokens/s",
                f"learning rate {self._recent[-1]['lr']:.2g}",
                *([f"about {_duration(left)} left"] if left is not None else []),
            )
        )

    def _means(self) -> dict[str, float]:
        names = dict.fromkeys(name for entry in self._recent for name in entry)
        return {name: self._mean(name) for name in names}

    def _mean(self, name: str) -> float:
        values = [entry[name] for entry in self._recent if name in entry]
        return sum(values) / len(values) if values else math.nan

    def _speed(self) -> float:
        first, last = self._recent[0], self._recent[-1]
        took = last["seconds"] - first["seconds"]
        return (last["n_tokens"] - first["n_tokens"]) / took if took > 0 else 0.0

    def _left(self) -> float | None:
        """Seconds until the run's end, or this sitting's; None when that is not known."""
        ends = [60 * self._minutes - (self._clock() - self._started)] if self._minutes else []
        first, last = self._recent[0], self._recent[-1]
        if self._n_steps and len(self._recent) > 1:
            pace = (last["seconds"] - first["seconds"]) / (last["step"] - first["step"])
            ends.append((self._n_steps - last["step"] - 1) * pace)
        return max(0.0, min(ends)) if ends else None


def _told(figures: Mapping[str, Any]) -> str:
    return ", ".join(f"{_name(group)} {_kinds(group, kinds)}" for group, kinds in grouped(figures).items())


def _name(group: str) -> str:
    return "by kind" if group == LOSS else group.replace("_", " ")


def _kinds(group: str, kinds: Mapping[str, float]) -> str:
    def value(found: float) -> str:
        return f"{found:.1%}" if group == RIGHT else f"{found:.2f}"

    if list(kinds) == [group]:
        return value(kinds[group])
    return " ".join(f"{kind} {value(found)}" for kind, found in kinds.items())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"
