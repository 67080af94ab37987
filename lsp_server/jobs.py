"""Work that a command has begun, and that goes on when the command is answered. Owns: its progress and cancel button.

Must not know: what the work is. Runs in the event loop. A command is answered at once, since some editors stand still
until then, and cancelling one would not reach the work.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Coroutine
from concurrent.futures import Future

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress

_log = logging.getLogger(__name__)


class Jobs:
    """All jobs under way."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, title: str, work: Coroutine[None, None, None], *, visibly: bool) -> None:
        """Begin; with `visibly`, the editor shows a progress with a cancel button."""
        task = asyncio.create_task(self._run(title, work, visibly))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, title: str, work: Coroutine[None, None, None], visibly: bool) -> None:
        task = asyncio.create_task(work)
        token = f"midfill-job-{uuid.uuid4()}"
        showing = asyncio.create_task(self._show(token, title, task)) if visibly else None
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        finally:
            task.cancel()
            if showing is not None:
                showing.cancel()
            if self._progress.tokens.pop(token, None) is not None:
                self._progress.end(token, types.WorkDoneProgressEnd())

    async def _show(self, token: str, title: str, task: asyncio.Task[None]) -> None:
        try:
            await self._progress.create_async(token)
        except JsonRpcException as error:
            _log.info("the client shows no progress: %s", error)
            return

        def cancelled(button: Future[object]) -> None:
            if button.cancelled():
                task.cancel()

        self._progress.tokens[token].add_done_callback(cancelled)
        self._progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True))
