"""Standard input and output. Owns: reading without blocking, writing, and their end. Must not know: what is sent.

A daemon thread reads: it works for every kind of file, leaves stdout's mode alone, and can't hold up the exit.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import BinaryIO, Final

_CHUNK: Final = 64 * 1024


class Output:
    """What goes out, as the writer that pygls asks for."""

    def __init__(self, stream: BinaryIO, on_broken: Callable[[], None]) -> None:
        self._stream = stream
        self._on_broken = on_broken

    def write(self, data: bytes) -> None:
        """Write one message. When nobody reads any more, say so instead of failing in some callback."""
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):
            self._on_broken()

    def close(self) -> None:
        """Part of what pygls asks for; the stream ends with the process."""


class Input:
    """What comes in at a file descriptor, as the reader that pygls' loop asks for."""

    def __init__(self, fd: int) -> None:
        self._reader = asyncio.StreamReader()
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._ended = False
        threading.Thread(target=self._pump, name="stdin", daemon=True).start()

    async def readline(self) -> bytes:
        """The next line. The handler of the message before has begun when this returns."""
        await asyncio.sleep(0)  # else a request and an edit that come together would both be handled after the edit
        return await self._reader.readline()

    async def readexactly(self, n: int) -> bytes:
        """The next `n` bytes."""
        return await self._reader.readexactly(n)

    def end(self) -> None:
        """Let the reader see the end, also when the descriptor stays open."""
        if not self._ended:
            self._ended = True
            self._reader.feed_eof()

    def _pump(self) -> None:
        """Read until the end; the only thing that this thread does."""
        data = b"-"
        while data:
            try:
                data = os.read(self._fd, _CHUNK)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._feed, data)
            except RuntimeError:  # the loop has ended first
                return

    def _feed(self, data: bytes) -> None:
        if not data:
            self.end()
        elif not self._ended:
            self._reader.feed_data(data)
