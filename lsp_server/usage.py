"""What becomes of suggestions, counted. Owns: the last decisions in memory, and the counts on their way to the file.

Must not know: documents, messages, the engine. Runs in the event loop; a thread writes, twice a minute at most and only
when there is something new. A file that can't be written costs its statistics and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import logging
import re
from collections import Counter, deque
from pathlib import Path
from typing import Final, Literal

from attrs import frozen

from engine.usage import Event, Key, UsageError, add, bucket_of, usage_path
from lsp_server.outcomes import Nothing

_log = logging.getLogger(__name__)
_N_RECENT: Final = 20
_WRITE_EVERY_S: Final = 30.0
_MOST_KEYS: Final = 5000
"""Waiting to be written: a file that is locked for long must not cost memory."""
_LABEL: Final = re.compile(r"[\w+#.:-]{1,60}")

Source = Literal["engine", "session", "prefetch", "none"]
Accepted = Literal["all", "word", "line", "typed"]


@frozen
class Decision:
    """What was decided for one request."""

    language: str
    model: str
    """Empty when no engine has told yet."""
    invoked: bool
    """Asked for by hand."""
    source: Source
    """Where the answer came from: `session` is the suggestion that is being typed through."""
    nothing: Nothing | None
    """Why nothing was shown; None when something was."""
    latency_ms: float
    """From the request to the answer."""


class Usage:
    """Statistics of this server."""

    def __init__(self, path: Path | None = None, write_every_s: float = _WRITE_EVERY_S) -> None:
        self._path = path
        self._write_every_s = write_every_s
        self._recent: deque[Decision] = deque(maxlen=_N_RECENT)
        self._waiting: Counter[Key] = Counter()
        self._writer: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._told = False

    def recent(self) -> tuple[Decision, ...]:
        """The last decisions, oldest first."""
        return tuple(self._recent)

    def note(self, decision: Decision) -> None:
        """A request was answered."""
        if decision.nothing not in (Nothing.SUPERSEDED, Nothing.CANCELLED):  # each key makes one: they say nothing
            self._recent.append(decision)
        language, model = decision.language, decision.model
        if decision.nothing is not None:
            self._count(language, model, Event.NOTHING, decision.nothing.value)
        else:
            self._count(language, model, Event.SHOWN, decision.source, bucket_of(decision.latency_ms))

    def accepted(self, language: str, model: str, kind: Accepted, n_chars: int) -> None:
        """A suggestion was accepted, whole or in part."""
        self._count(language, model, Event.ACCEPTED, kind)
        self._count(language, model, Event.CHARACTERS, kind, n=n_chars)

    def dismissed(self, language: str, model: str) -> None:
        """A suggestion was refused."""
        self._count(language, model, Event.DISMISSED)

    async def close(self) -> None:
        """Write what is left, in two attempts at most."""
        self._closing.set()
        if self._writer is not None:
            await self._writer
        self._start_writer()
        if self._writer is not None:
            await self._writer

    def _count(self, language: str, model: str, event: Event, detail: str = "", bucket: int = 0, n: int = 1) -> None:
        key = Key(datetime.date.today().isoformat(), _label(language), _label(model), event, detail, bucket)
        if key in self._waiting or len(self._waiting) < _MOST_KEYS:
            self._waiting[key] += n
        self._start_writer()

    def _start_writer(self) -> None:
        if self._waiting and self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write_batches())

    async def _write_batches(self) -> None:
        while self._waiting:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), self._write_every_s)
            batch, self._waiting = self._waiting, Counter()
            if not await asyncio.to_thread(self._write, batch):
                has_news = bool(self._waiting)
                self._waiting.update(batch)
                if not has_news:  # then there is no new attempt: an idle server rests
                    break
        self._writer = None

    def _write(self, batch: Counter[Key]) -> bool:
        """In a thread: whether it is written."""
        try:
            add(batch, self._path or usage_path())
        except (UsageError, OSError) as error:
            if not self._told:
                self._told = True
                _log.warning("statistics can't be written now: %s", error)
            return False
        return True


def _label(told: str) -> str:
    """A name as it is kept. Clients choose the languages' names, so nothing odd or long may pass."""
    return told if not told or _LABEL.fullmatch(told) else "other"
