"""The indexes of all workspace folders. Owns: their opening and closing, and that one that fails is done without.

Must not know: documents. Used by the background thread alone, but for `any`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

from lsp_server.context.exclusions import Exclusions
from lsp_server.context.index import WorkspaceIndex
from lsp_server.context.store import index_file

_log = logging.getLogger(__name__)
_Found = TypeVar("_Found")

SWEEP_S: Final = 300.0
_RESTS: Final = 100
"""A sweep that takes long is followed by a rest of so many times as long."""


class Indexes:
    """One index for each folder."""

    def __init__(self) -> None:
        self._open: dict[Path, WorkspaceIndex] = {}
        self._due_s: dict[Path, float] = {}
        """When a folder is to be looked at again."""
        self._building: set[Path] = set()
        self._wanted: set[Path] = set()
        """Folders to look at from the beginning: rules may change under a build."""

        self.n_built = 0
        """Times that a folder was looked through to its end. Written by the background thread."""

    @property
    def any(self) -> bool:
        """Whether there are indexes."""
        return bool(self._open)

    def get(self, folder: str) -> WorkspaceIndex | None:
        """The index of a folder, if it can be used."""
        return self._open.get(Path(folder))

    def set_folders(self, folders: Sequence[Path], exclusions: Exclusions) -> None:
        """Open and close indexes so that there is one for each of `folders`."""
        import sqlite3

        for folder in set(self._open).difference(folders):
            self._open.pop(folder).close()
        for folder in folders:
            if (index := self._open.get(folder)) is not None:
                index.exclusions = exclusions
                continue
            try:
                self._open[folder] = WorkspaceIndex(folder, index_file(folder), exclusions)
            except (OSError, sqlite3.Error) as error:
                _log.warning("no index of a workspace folder: %s", error)

    def build(self, folder: Path) -> Iterator[None]:
        """Bring a folder's index up to date, step by step."""
        self._wanted.add(folder)
        if folder in self._building:
            return
        self._building.add(folder)
        began_s, worked_s = time.monotonic(), 0.0
        try:
            while folder in self._wanted and folder in self._open:
                self._wanted.discard(folder)
                for _ in self._guarded(folder, self._open[folder].build()):
                    worked_s += time.monotonic() - began_s
                    yield
                    began_s = time.monotonic()
            self.n_built += 1
        finally:
            self._building.discard(folder)
            self._due_s[folder] = time.monotonic() + max(SWEEP_S, _RESTS * worked_s)

    def update(self, folder: Path, paths: Sequence[Path]) -> Iterator[None]:
        """Tell a folder's index of changed files, step by step."""

        def steps() -> Iterator[None]:
            for path in paths:
                if (index := self._open.get(folder)) is not None:
                    index.update(path)
                yield

        return self._guarded(folder, steps())

    def is_due(self, folder: Path) -> bool:
        """Whether a folder is to be looked at again."""
        return folder in self._open and folder not in self._building and time.monotonic() >= self._due_s.get(folder, 0)

    def with_index(self, folder: str, work: Callable[[], _Found]) -> _Found:
        """Do `work`; and when the folder's index fails, again without it."""
        import sqlite3

        try:
            return work()
        except sqlite3.Error as error:
            self._failed(Path(folder), error)
            return work()

    def close(self) -> None:
        """Close all."""
        while self._open:
            self._open.popitem()[1].close()

    def _guarded(self, folder: Path, steps: Iterator[None]) -> Iterator[None]:
        import sqlite3

        try:
            yield from steps
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                self._failed(folder, error)
            # else another editor's server is at the same work
        except sqlite3.Error as error:
            self._failed(folder, error)

    def _failed(self, folder: Path, error: Exception) -> None:
        _log.warning("the index of a workspace folder can't be used, going on without it: %s", error)
        if (index := self._open.pop(folder, None)) is not None:
            index.close()
