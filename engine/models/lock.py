"""One pull or removal of a model at a time. Owns: the lock file. The lock goes with the processes that hold it."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


class LockedError(RuntimeError):
    """Another process is at work on this model."""


@contextlib.contextmanager
def model_lock(folder: Path, name: str, on_wait: Callable[[str], None] | None = None) -> Iterator[int]:
    """Hold the lock of the model `name` in the models folder; gives the descriptor, for children to inherit.

    When it is taken: with `on_wait`, say who has it and wait; without, raise `LockedError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown"
            told = f"another midfill (process {holder}) is at work on {name}"
            if on_wait is None:
                raise LockedError(told) from None
            on_wait(told)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)
