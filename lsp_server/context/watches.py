"""Watches on folders, for editors that watch no files themselves. Owns: which folders are watched, and how many.

Must not know: documents, the index. Only the folders of open documents and the workspace's own are watched, none with
what lies below it, and never more than `MOST`: what changes elsewhere is found when the index looks at its folders
again. The operating system wakes a thread when something happens; at rest nothing runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lsp_server.context.exclusions import is_rules_file
from lsp_server.context.languages import language_of

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

_log = logging.getLogger(__name__)

MOST: Final = 16
_TIMEOUT_S: Final = 60.0
"""How often a watching thread looks at whether it is still wanted; stopping wakes it all the same."""


class Watches:
    """Calls `on_changed` in a thread of its own, for files that are worth knowing about."""

    def __init__(self, on_changed: Callable[[Path], None]) -> None:
        self._on_changed = on_changed
        self._observer: BaseObserver | None = None
        self._held: dict[Path, ObservedWatch] = {}

    def follow(self, folders: Sequence[Path]) -> None:
        """Watch the first `MOST` of these folders, and no others. Blocks for a moment."""
        wanted = list(dict.fromkeys(folders))[:MOST]
        if not wanted and self._observer is None:
            return
        from watchdog import events

        observer = self._observer or self._started()
        for folder in set(self._held).difference(wanted):
            observer.unschedule(self._held.pop(folder))
        for folder in wanted:
            if folder in self._held or not folder.is_dir():
                continue
            handler = events.FileSystemEventHandler()
            handler.on_any_event = self._told  # type: ignore[method-assign]
            kinds: list[type[FileSystemEvent]] = [
                events.FileCreatedEvent,
                events.FileModifiedEvent,
                events.FileDeletedEvent,
                events.FileMovedEvent,
            ]
            try:
                self._held[folder] = observer.schedule(handler, str(folder), recursive=False, event_filter=kinds)
            except OSError as error:  # this user's watches are used up
                _log.warning("a folder is not watched: %s", error.strerror)
                return

    def close(self) -> None:
        """End all watches."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None
            self._held.clear()

    def _started(self) -> BaseObserver:
        from watchdog.observers import Observer

        self._observer = Observer(timeout=_TIMEOUT_S)
        self._observer.daemon = True
        self._observer.start()
        return self._observer

    def _told(self, event: FileSystemEvent) -> None:
        for told in (event.src_path, event.dest_path):
            path = Path(told.decode(errors="surrogateescape") if isinstance(told, bytes) else told)
            if language_of(path.name) or is_rules_file(path):
                self._on_changed(path)
