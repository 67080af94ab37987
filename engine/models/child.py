"""A child process that is watched while it works. Owns: its progress, its complaints, its end with ours.

Fetching and converting run in children: pip and torch are then gone, with their memory, when the work is done.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

_TICK_S: Final = 0.2


class ChildFailedError(RuntimeError):
    """The child ended badly. The message is its last complaint."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def run_child(
    command: Sequence[str],
    folder: Path,
    *,
    lock: int,
    environment: Mapping[str, str] | None = None,
    on_tick: Callable[[], int] = lambda: 0,
    stall_s: float = float("inf"),
) -> None:
    """Run `command` in `folder` to its end. Raises `ChildFailedError`.

    `on_tick` is called a few times a second and says how many bytes there are; a child that adds none for `stall_s` is
    ended. The child inherits the descriptor `lock`, so that the lock outlives a kill -9 of ours as long as the child.
    """
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            pass_fds=(lock,),
            env={**os.environ, **(environment or {})},
        )
        try:
            code = _wait(process, on_tick, stall_s)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if code != 0:
            told.seek(0)
            raise ChildFailedError(
                _complaint(told.read().decode(errors="replace")) or f"it left with code {code}", code
            )
    on_tick()


def _wait(process: subprocess.Popen[bytes], on_tick: Callable[[], int], stall_s: float) -> int:
    n_bytes, since = -1, time.monotonic()
    while True:
        try:
            return process.wait(_TICK_S)
        except subprocess.TimeoutExpired:
            now = on_tick()
        if now != n_bytes:
            n_bytes, since = now, time.monotonic()
        elif time.monotonic() - since > stall_s:
            raise ChildFailedError(f"nothing arrived for {stall_s:.0f} s", -1)


def _complaint(told: str) -> str:
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1][:300]


def size_under(folder: Path) -> int:
    """Bytes of all files below `folder`, some of which may vanish meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):  # unlike rglob, it goes on when a folder vanishes
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total
