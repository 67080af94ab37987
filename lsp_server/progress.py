"""The loading of the model, shown as the editor's work-done progress. Owns: one progress at a time.

Must not know: the engine link. Runs in the event loop. Used only where the client supports `window.workDoneProgress`.
"""

from __future__ import annotations

import asyncio
import logging
import uuid

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress

from engine.protocol import Loading

_log = logging.getLogger(__name__)


class LoadingProgress:
    """Shows `Loading` messages until `finish`."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._creating: asyncio.Task[None] | None = None
        self._token = ""
        """Of a progress that the editor shows; empty: none."""
        self._newest: Loading | None = None

    def show(self, loading: Loading) -> None:
        """Show how far it is."""
        self._newest = loading
        if self._token:
            report = types.WorkDoneProgressReport(message=loading.stage, percentage=_percentage(loading))
            self._progress.report(self._token, report)
        elif self._creating is None:
            self._creating = asyncio.create_task(self._create())

    def finish(self, message: str) -> None:
        """It is over, well or not. Safe to call without a `show`."""
        self._newest = None
        if self._token:
            self._end(self._token, message)
            self._token = ""

    async def _create(self) -> None:
        token = f"midfill-loading-{uuid.uuid4()}"
        try:
            await self._progress.create_async(token)
        except JsonRpcException as error:
            _log.info("the client shows no progress: %s", error)
            return
        finally:
            self._creating = None
        loading = self._newest
        if loading is None:  # over before the editor was ready to show it
            self._progress.tokens.pop(token, None)
            return
        self._token = token
        begin = types.WorkDoneProgressBegin(
            title="Midfill: loading the model",
            message=loading.stage,
            percentage=_percentage(loading),
            cancellable=False,
        )
        self._progress.begin(token, begin)

    def _end(self, token: str, message: str) -> None:
        self._progress.end(token, types.WorkDoneProgressEnd(message=message or None))
        self._progress.tokens.pop(token, None)


def _percentage(loading: Loading) -> int:
    return min(max(round(loading.fraction * 100), 0), 100)
