"""What a process must see to, whatever its command is. Owns: its standard streams, the signals that end it.

Must not know: the commands. SIGTERM and SIGHUP end a command the way Ctrl-C does: the terminal gets its cursor back,
the engine learns that nobody waits any more, children are ended.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType
from typing import Final

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # fewer on other systems


class Ending:
    """Which signal ends this process, if one does."""

    def __init__(self) -> None:
        self.number = int(signal.SIGINT)
        """The signal that a `KeyboardInterrupt` stands for."""

    def listen(self) -> None:
        """Turn the signals into `KeyboardInterrupt`; one that is ignored, as by nohup, stays ignored."""
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, _: FrameType | None) -> None:
        self.number = number
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)  # asyncio has a way of its own with it: it cancels the main task
        else:
            raise KeyboardInterrupt

    @property
    def code(self) -> int:
        """As a shell reports a process that a signal ended."""
        return 128 + self.number

    @property
    def told(self) -> str:
        """In words."""
        return "cancelled" if self.number == signal.SIGINT else f"ended by {signal.Signals(self.number).name}"


def open_streams() -> None:
    """See all three standard streams open, and able to take any character."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else the next file or socket would get the number, and our output
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def flush_stdout() -> None:
    """Get out what is buffered, now that its loss can still be told. Raises `OSError`."""
    if sys.stdout is not None:
        sys.stdout.flush()


def drop_stdout() -> None:
    """Nothing may be flushed to a broken stdout at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
