"""The one background thread of the context. Owns: its order of work, its pace and its end.

Must not know: what the work is. Jobs run first and in order; slow work is an iterator, advanced one step at a time
between jobs, and only while nobody types. A thread that works shares the interpreter with the event loop, so slow work
rests as long as it worked.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

_log = logging.getLogger(__name__)

QUIET_S: Final = 0.3
"""So long after a keystroke slow work waits."""
_END_S: Final = 2.0


class Worker:
    """Starts its thread when there is something to do."""

    def __init__(self, at_end: Callable[[], None]) -> None:
        self._at_end = at_end
        """The thread's last job."""
        self._jobs: deque[Callable[[], None]] = deque()
        self._slow: deque[Iterator[None]] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ending = False
        self._busy = False
        self._not_before_s = 0.0
        """When slow work may go on."""

    def submit(self, job: Callable[[], None]) -> None:
        """Run a job soon. Everything else waits for it, so it must be short."""
        with self._changed:
            self._jobs.append(job)
            self._wake()

    def slowly(self, steps: Iterator[None]) -> None:
        """Run through `steps` when there is nothing better to do."""
        with self._changed:
            self._slow.append(steps)
            self._wake()

    def key(self) -> None:
        """Somebody types: slow work waits."""
        self._not_before_s = time.monotonic() + QUIET_S

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until all is done; whether it is. Blocks."""
        with self._changed:
            return self._changed.wait_for(lambda: not (self._jobs or self._slow or self._busy), timeout_s)

    def end(self) -> None:
        """Leave what is not begun, and wait a little for the rest. Blocks. A thread that hangs on a disk is left."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(_END_S)

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="context", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
            except StopIteration:  # slow work that is done
                pass
            except Exception as error:
                _log.warning("background work failed: %s", type(error).__name__)
            with self._changed:
                self._busy = False
                self._changed.notify_all()
        self._at_end()

    def _next(self) -> Callable[[], object] | None:
        """The next job, or a step of slow work when it may go on; None: the thread is to end."""
        with self._changed:
            while not self._ending:
                wait_s = self._not_before_s - time.monotonic() if self._slow else None
                if self._jobs or (wait_s is not None and wait_s <= 0):
                    self._busy = True
                    return self._jobs.popleft() if self._jobs else functools.partial(self._step, self._slow.popleft())
                self._changed.wait(wait_s)
        return None

    def _step(self, steps: Iterator[None]) -> None:
        began_s = time.monotonic()
        next(steps)
        ended_s = time.monotonic()
        self._not_before_s = max(self._not_before_s, 2 * ended_s - began_s)
        with self._changed:
            self._slow.appendleft(steps)
