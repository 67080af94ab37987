"""What the engine is told beyond the two sides of the cursor, and which files are left alone. The server's way in.

Owns: the open documents' recent use and edits, the background thread, one index for each workspace folder. Must not
know: LSP messages, the engine's client. Its methods run in the event loop and never wait: `snippets` returns what is
held and lets the background thread look for more, so a slow disk only means that there is nothing yet. One exception:
the first question about a document reads the ignore files above it.

Where nobody watches the files nothing outdated is quoted all the same, since a file's time is looked at when it is
quoted; ignore files are looked at again every `RULES_S`, folders every `SWEEP_S`, and only while somebody works.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from engine.protocol import Snippet
from lsp_server.config import DEFAULTS, ServerConfig
from lsp_server.context.exclusions import HEAD_CHARS, Exclusions, is_rules_file
from lsp_server.context.gather import Gatherer, Question, names_near
from lsp_server.context.held import Held
from lsp_server.context.index import is_never_entered
from lsp_server.context.indexes import Indexes
from lsp_server.context.piece import Piece
from lsp_server.context.sources import Source
from lsp_server.context.watches import Watches
from lsp_server.context.worker import Worker
from lsp_server.documents import Document, key_of
from lsp_server.outcomes import Nothing
from lsp_server.positions import Point

_log = logging.getLogger(__name__)

RULES_S: Final = 10.0
_MOST_SOURCES: Final = 8
_MOST_EDITS: Final = 12
_SAME_EDIT_LINES: Final = 12
"""Edits that near each other are one."""
_MOST_PATHS: Final = 300
"""More files that change at once are a checkout: the whole folder is looked at."""


@frozen
class _Edit:
    key: str
    line: int
    at_s: float


class Context:
    """The surroundings of all open documents."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._config = DEFAULTS
        self._folders: tuple[Path, ...] = ()
        self._exclusions = Exclusions()
        self._why: dict[str, tuple[int, Nothing | None]] = {}
        """By document: a hash of its beginning, and why it is left alone."""
        self._documents: dict[str, Document] = {}
        """Open ones, most recently used last."""
        self._edits: deque[_Edit] = deque(maxlen=_MOST_EDITS)
        """Oldest first."""
        self._held: dict[str, Held] = {}
        self._last_key = ""
        self._indexes = Indexes()
        self._gatherer = Gatherer(self._indexes.get)
        self._watches: Watches | None = None
        self._worker = Worker(self._end)
        self._rules_read_s = clock()
        self._rules_changed = False
        """Set by the background thread."""

    def configure(self, config: ServerConfig) -> None:
        """Take the settings `context` and `exclude`."""
        before, self._config = self._config, config
        if (before.exclude, before.context) != (config.exclude, config.context):
            self._renew()

    def set_folders(self, folders: Sequence[Path]) -> None:
        """Take the workspace's folders; their indexes are opened and brought up to date in the background."""
        if tuple(folders) != self._folders:
            self._folders = tuple(folders)
            self._renew()
            self._follow()

    def watch_files(self) -> None:
        """Watch the folders in use from now on, because the editor does not."""
        loop = asyncio.get_running_loop()

        def told(path: Path) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self.files_changed, [path])

        self._watches = self._watches or Watches(told)
        self._follow()

    def opened(self, document: Document) -> None:
        """A document was opened."""
        self._documents[key_of(document.uri)] = document
        self._follow()

    def edited(self, document: Document, point: Point) -> None:
        """A document was edited, up to `point`. Looks for pieces already, so that the fill that follows has them."""
        self._worker.key()
        key, now_s = key_of(document.uri), self._clock()
        last = self._edits[-1] if self._edits else None
        if last is not None and last.key == key and abs(last.line - point.line) <= _SAME_EDIT_LINES:
            self._edits.pop()
        self._edits.append(_Edit(key, point.line, now_s))
        self._look(document, key, point, now_s)

    def closed(self, uri: str) -> None:
        """A document was closed: from now on its file is what counts."""
        key = key_of(uri)
        document = self._documents.pop(key, None)
        self._held.pop(key, None)
        self._why.pop(key, None)
        if document is not None and document.path:
            self.files_changed([Path(document.path)])

    def files_changed(self, paths: Sequence[Path]) -> None:
        """Files came, changed or went."""
        if any(map(is_rules_file, paths)):
            self._renew()
            return
        wanted: dict[Path, list[Path]] = {}
        for path in paths:
            for folder in self._folders:
                if path.is_relative_to(folder) and not any(map(is_never_entered, path.relative_to(folder).parts)):
                    wanted.setdefault(folder, []).append(path)
        for folder, changed in wanted.items():
            if len(changed) > _MOST_PATHS:
                self._worker.slowly(self._indexes.build(folder))
            else:
                self._worker.slowly(self._indexes.update(folder, changed))

    def why_excluded(self, document: Document) -> Nothing | None:
        """Why a document is neither completed nor quoted; None: nothing speaks against it."""
        if self._rules_changed:
            self._renew()
        key = key_of(document.uri)
        head = _head(document.lines)
        mark = hash(head)
        known = self._why.get(key)
        if known is None or known[0] != mark:
            why = self._exclusions.of_name(Path(document.path)) if document.path else None
            known = self._why[key] = mark, why or self._exclusions.of_text(head)
        return known[1]

    def snippets(self, document: Document, cursor: Point) -> tuple[Snippet, ...]:
        """What a fill at `cursor` quotes now: see `lsp_server.context.held` for when it changes."""
        if self._rules_changed:
            self._renew()
        if not self._config.context or self.why_excluded(document) is not None:
            return ()
        key, now_s = key_of(document.uri), self._clock()
        return self._look(document, key, cursor, now_s).settle(now_s)

    async def settled(self, timeout_s: float = 60.0) -> bool:
        """Wait until the background thread has nothing to do; whether it has."""
        return await asyncio.to_thread(self._worker.wait_idle, timeout_s)

    async def close(self) -> None:
        """Let go of threads and files."""
        await asyncio.to_thread(self._worker.end)

    def _look(self, document: Document, key: str, point: Point, now_s: float) -> Held:
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = Held()
        returned = key != self._last_key and any(edit.key != key and edit.at_s > held.looked_s for edit in self._edits)
        self._last_key = key
        self._documents.pop(key, None)
        self._documents[key] = document
        if not self._config.context or self.why_excluded(document) is not None:
            return held
        names = names_near(document.lines, point.line, point.column)
        grown = held.is_empty_handed and held.n_built < self._indexes.n_built  # the index was not there yet
        if held.must_look(now_s, point.line, names, returned=returned or grown):
            held.n_built = self._indexes.n_built
            search = held.looking(now_s, point.line, names)
            question = self._question(document, key, point.line)
            self._worker.submit(functools.partial(self._search, held, search, question, now_s))
        return held

    def _question(self, document: Document, key: str, line: int) -> Question:
        folder = next((str(one) for one in self._folders if Path(document.path).is_relative_to(one)), "")
        others = [one for name, one in reversed(self._documents.items()) if name != key]
        others = [one for one in others if self.why_excluded(one) is None][:_MOST_SOURCES]
        return Question(
            Source.of(document, key, folder),
            line,
            tuple(Source.of(other, key_of(other.uri), folder) for other in others),
            tuple((edit.key, edit.line) for edit in reversed(self._edits)),
            folder,
        )

    def _search(self, held: Held, search: int, question: Question, now_s: float) -> None:
        """In the background thread."""
        pieces: Sequence[Piece] = ()
        try:
            if now_s - self._rules_read_s >= RULES_S:
                self._rules_read_s = now_s
                if self._exclusions.refresh():
                    self._rules_changed = True
                    return  # what is looked for now would be thrown away
            if search == held.n_searches:  # nobody is somewhere else by now
                pieces = self._indexes.with_index(question.folder, lambda: self._gatherer.gather(question))
        finally:
            held.found(search, pieces)
        if question.folder and self._indexes.is_due(Path(question.folder)):
            self._worker.slowly(self._indexes.build(Path(question.folder)))

    def _follow(self) -> None:
        """Watch the workspace's folders, and those of open documents in them."""
        if self._watches is None or not self._config.context:
            return
        used = (Path(document.path).parent for document in reversed(self._documents.values()) if document.path)
        inside = [path for path in used if any(path.is_relative_to(folder) for folder in self._folders)]
        self._worker.submit(functools.partial(self._watches.follow, [*self._folders, *inside]))

    def _end(self) -> None:
        """In the background thread."""
        self._indexes.close()
        if self._watches is not None:
            self._watches.close()

    def _renew(self) -> None:
        """Rules, settings or folders have changed: nothing that was chosen under the old ones may stay."""
        self._rules_changed = False
        self._exclusions = Exclusions(self._folders, self._config.exclude)
        self._why.clear()
        self._held.clear()
        folders = self._folders if self._config.context else ()
        if self._folders or self._indexes.any:
            self._worker.submit(functools.partial(self._indexes.set_folders, folders, self._exclusions))
        for folder in folders:
            self._worker.slowly(self._indexes.build(folder))


def _head(lines: Sequence[str]) -> str:
    """The beginning of a document."""
    pieces: list[str] = []
    length = 0
    for line in lines:
        pieces.append(line[:HEAD_CHARS])
        length += len(line)
        if length >= HEAD_CHARS:
            break
    return "".join(pieces)[:HEAD_CHARS]
