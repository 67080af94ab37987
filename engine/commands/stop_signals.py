"""Ends long work at a good place. Owns: what a first signal means, and a second one.

`Ending` sees to every command; this one is for work that must be left whole, between two of its steps.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

_SIGNALS: Final = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopSignals:
    """While it is entered, a first signal asks for the end; after it, signals mean what they did before."""

    def __init__(self, on_ask: Callable[[], None]) -> None:
        """`on_ask` says that the end was asked for."""
        self._on_ask = on_ask
        self._before: dict[int, Any] = {}
        self.number: int | None = None
        """The signal that asked for the end."""

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():  # in another, whoever runs us has the signals
            for number in _SIGNALS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):  # ignored, as by nohup: it stays ignored
                    self._before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    @property
    def asked(self) -> bool:
        """Whether the end was asked for."""
        return self.number is not None

    def _ask(self, number: int, _: FrameType | None) -> None:
        self.number = number
        self._restore()
        self._on_ask()

    def _restore(self) -> None:
        while self._before:
            signal.signal(*self._before.popitem())
