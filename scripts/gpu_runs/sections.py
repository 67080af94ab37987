"""Sections of a run, each a process with a time of its own. Owns: starting, ending and judging them.

A process, because on a GPU one fault spoils all that comes after it in the same process, and because a call that hangs
can only be ended from outside. What a section has found by then is in the record.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from attrs import frozen

from gpu_runs.record import Record

_GRACE_S = 3.0
"""For a process to end after it was asked to."""
_REPORT_S = 5.0
"""Kept of the budget for ending the last section, and for the table."""
_EARLY_S = 1.0
"""By which a section's own clock is fast."""


@frozen
class Clock:
    """Time until an end."""

    until: float
    """By `time.monotonic`, which all processes of a machine share."""

    @classmethod
    def of(cls, seconds: float) -> Clock:
        """That many seconds, from now."""
        return cls(time.monotonic() + seconds)

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.until - time.monotonic()


@frozen
class Section:
    """A part of a run."""

    name: str
    run: Callable[[Record, Clock], None]
    share: float
    """Of the time that is left when it begins, among the sections still to come."""


class Stopped(Exception):
    """The run was told to end."""


def run_all(sections: Sequence[Section], command: Sequence[str], budget: float, record: Record) -> bool:
    """Run each section as `command --section NAME --until TIME`; True when all ended well.

    What a section leaves of its time goes to those behind it. SIGTERM and Ctrl-C end the run as the end of its time
    does: what was found stays.
    """
    clock = Clock.of(budget - _REPORT_S)
    well = True
    with _stoppable():
        try:
            for i, section in enumerate(sections):
                shares = sum(one.share for one in sections[i:])
                seconds = clock.left * section.share / shares
                if seconds < 1:
                    record.put(section.name, status="skipped: no time was left")
                    well = False
                    continue
                status, took = _run(command, section, seconds, record)
                record.put(section.name, status=status, seconds=round(took, 1))
                well = well and status == "done"
        except Stopped:
            record.put("run", status="stopped from outside")
            return False
    return well


def run_one(section: Section, until: float, record: Record) -> int:
    """Run a section in this process; its exit code."""
    clock = Clock(until)
    if hasattr(signal, "SIGALRM"):  # should nobody be left to end it: this ends it even in a call that hangs
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(max(1, int(clock.left + _EARLY_S + 2 * _GRACE_S)))
    try:
        section.run(record, clock)
    except Exception as error:
        traceback.print_exc()
        record.put(section.name, error=f"{type(error).__name__}: {error}"[:2000])
        return 1
    return 0


def _run(command: Sequence[str], section: Section, seconds: float, record: Record) -> tuple[str, float]:
    started = time.monotonic()
    record.put(section.name, status="began", given_s=round(seconds, 1))
    until = started + seconds - _EARLY_S  # starting takes some of it
    process = subprocess.Popen([*command, "--section", section.name, "--until", str(until)])
    try:
        code = process.wait(timeout=seconds)
        status = "done" if code == 0 else f"failed ({code})"
    except subprocess.TimeoutExpired:
        status = "ended: its time was over"
    finally:
        _end(process)
    return status, time.monotonic() - started


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _stoppable() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def told(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
