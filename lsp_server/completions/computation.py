"""One run of the engine for one cursor. Owns: who waits for it, and its end when nobody does any more.

Must not know: documents, what is asked. Runs in the event loop. Several requests may wait for one computation: the
editor asks again at an unchanged cursor, or for a completion that was begun before it asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from engine.protocol import Frame
from lsp_server.completions.cursor_text import CursorText
from lsp_server.completions.suggestion import Suggestion
from lsp_server.frames import FrameStream


class Computation:
    """A suggestion in the making."""

    def __init__(self, cursor: CursorText, invoked: bool) -> None:
        self.cursor = cursor
        self.invoked = invoked
        self.stream: FrameStream | None = None
        """Where frames go: to the newest request that wants some."""
        self.tentative = ""
        """The text of the newest frame."""
        self._task: asyncio.Task[Suggestion] | None = None
        self._n_waiting = 0

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._task is not None and self._task.done()

    @property
    def has_waiters(self) -> bool:
        """Whether a request waits for it."""
        return self._n_waiting > 0

    def show(self, frame: Frame) -> None:
        """A frame came."""
        self.tentative = "".join(span.text for span in frame.spans)
        if self.stream is not None:
            self.stream.show(frame)

    def start(self, work: Coroutine[None, None, Suggestion]) -> None:
        """Begin."""
        self._task = asyncio.create_task(work)
        self._task.add_done_callback(_taken)

    async def result(self) -> Suggestion:
        """Wait for the end. Raises `EngineError`. The last one who stops waiting ends the work in the engine."""
        assert self._task is not None
        self._n_waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._n_waiting -= 1
            if not self._n_waiting:
                self.cancel()

    def cancel(self) -> None:
        """Stop. Nothing happens when it has ended."""
        if self._task is not None:
            self._task.cancel()


def _taken(task: asyncio.Task[Suggestion]) -> None:
    if not task.cancelled():
        task.exception()  # those who waited may all have left
