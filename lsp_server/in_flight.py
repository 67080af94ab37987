"""Requests under way, by document. Owns: which are overtaken by a newer request or by an edit, and their end.

Must not know: the engine, messages. Runs in the event loop. A request is stopped by cancelling its task, at once, so
that the engine stops working for it within a step.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable
from typing import TypeVar

import attrs

from lsp_server.failures import content_modified

_Answer = TypeVar("_Answer")


class Kind(enum.Enum):
    """What kind of request it is."""

    COMPLETION = "completion"
    """Asked at a keystroke: a newer one for the same document takes its place."""
    FILL = "fill"
    """Asked by hand: stands beside others."""


@attrs.define(eq=False)
class _Flight:
    kind: Kind
    task: asyncio.Task[object]
    stale: bool = False


class InFlight:
    """All requests under way."""

    def __init__(self) -> None:
        self._flights: dict[str, list[_Flight]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._flights.values()))

    async def run(self, key: str, kind: Kind, work: Awaitable[_Answer]) -> _Answer:
        """Await `work` for the document `key` in the calling task. Raises content-modified when that changed."""
        task = asyncio.current_task()
        assert task is not None
        flight = _Flight(kind, task)
        flights = self._flights.setdefault(key, [])
        if kind is Kind.COMPLETION:
            self.overtake(key)
        flights.append(flight)
        try:
            return await work
        except asyncio.CancelledError:
            if flight.stale:
                raise content_modified() from None
            raise
        finally:
            flights.remove(flight)
            if not flights and self._flights.get(key) is flights:
                del self._flights[key]

    def overtake(self, key: str) -> None:
        """Stop older completions: a newer one was asked for."""
        for older in self._flights.get(key, ()):
            if older.kind is Kind.COMPLETION:
                older.task.cancel()

    def document_changed(self, key: str) -> None:
        """Stop all work on a text that is gone."""
        for flight in self._flights.get(key, ()):
            flight.stale = True
            flight.task.cancel()
