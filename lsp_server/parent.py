"""The editor's process. Owns: learning of its death. Must not know: what to do then.

On Linux a pidfd tells at once and costs nothing; elsewhere psutil looks every few seconds.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Final

_POLL_S: Final = 3.0


async def parent_death(pid: int) -> None:
    """Return when the process `pid` has ended; at once when there is none."""
    if sys.platform == "linux":
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        except OSError:  # a kernel without it, or a sandbox that forbids it
            await _poll(pid)
            return
        try:
            await _readable(fd)
        finally:
            os.close(fd)
    else:
        await _poll(pid)


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


async def _poll(pid: int) -> None:
    import psutil  # here: where there is a pidfd its memory is saved

    try:
        process = psutil.Process(pid)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(_POLL_S)
    except psutil.NoSuchProcess:
        return
