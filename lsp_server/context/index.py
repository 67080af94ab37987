"""The index of one workspace folder. Owns: which files are in it, how they get in, and how they leave.

Must not know: what is looked for. All of it runs in the background thread. Limits: `MAX_FILES` files and `MAX_BYTES`
bytes of text, found breadth first, so what lies near the folder's top comes first and the rest stays outside;
`MAX_VISITED` entries are looked at. No watches: whoever learns of a change calls `update`, and a new `build` only looks
at sizes and times.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lsp_server.context.chunks import chunks_of
from lsp_server.context.definitions import definitions_in
from lsp_server.context.exclusions import Exclusions
from lsp_server.context.identifiers import words_in
from lsp_server.context.languages import language_of
from lsp_server.context.secret_shapes import is_secret_text, secret_lines
from lsp_server.context.store import Entry, Place, Stamp, Store
from lsp_server.context.text_file import MAX_BYTES as MAX_FILE_BYTES
from lsp_server.context.text_file import TextFile, read_text_file

_log = logging.getLogger(__name__)

MAX_FILES: Final = 20_000
MAX_BYTES: Final = 160 * 1024 * 1024
MAX_VISITED: Final = 400_000
_MOST_NAMES: Final = 400
"""Definitions of one file; a file with more is a list and not code."""
_ENTRIES_A_STEP: Final = 100

_NEVER_ENTERED: Final = frozenset(
    {"node_modules", "bower_components", "__pycache__", "site-packages", "venv", "env", "virtualenv", "__pypackages__"}
    | {"build", "dist", "target", "out", "vendor", "third_party", "Pods", "DerivedData", "bazel-out", "coverage"}
)
"""Besides hidden folders, ignored ones, and those that say that they are caches or virtual environments."""
_MARKERS: Final = ("pyvenv.cfg", "CACHEDIR.TAG")


class WorkspaceIndex:
    """Words and definitions of the text files of `folder`. Raises `sqlite3.Error`."""

    def __init__(self, folder: Path, file: Path, exclusions: Exclusions) -> None:
        self.folder = folder
        self.exclusions = exclusions
        self._store = Store(file)

    def build(self) -> Iterator[None]:
        """Bring the index up to date, in steps of a few milliseconds; it may be dropped after any of them."""
        held = self._store.stamps()
        n_files, n_bytes = self._store.totals()
        n_new = 0
        whole = True
        for path, entry in self._files():
            if entry is None:
                whole = whole and path is not None
                yield
                continue
            assert path is not None
            try:
                stamp = Stamp.of(entry.stat(follow_symlinks=False))
            except OSError:
                continue  # gone meanwhile
            known = held.pop(path, None)
            if known == stamp or stamp.size > MAX_FILE_BYTES:
                if stamp.size > MAX_FILE_BYTES and known is not None:
                    held[path] = known
                continue
            if known is None:
                if n_files >= MAX_FILES or n_bytes + stamp.size > MAX_BYTES:
                    continue
                n_files, n_bytes = n_files + 1, n_bytes + stamp.size
            if self._store.stamp(path) == stamp:  # another server was here meanwhile
                continue
            self._take(path)
            self._store.commit()  # at each file: a pause must not keep other servers waiting
            n_new += 1
            yield
        if whole:
            for path in held:
                self._store.begin()
                self._store.drop(path)
                self._store.commit()
                yield
        _log.info("index of a folder: %d files held, %d read, %d dropped", n_files, n_new, len(held) if whole else 0)

    def update(self, path: Path) -> None:
        """A file or folder has changed, come or gone."""
        relative = path.relative_to(self.folder).as_posix()
        if path.is_dir():
            return  # its files are told of by name, or found by the next `build`
        if not path.is_file() or path.is_symlink() or not language_of(path.name) or self._is_hidden(path):
            self._store.begin()
            self._store.drop(relative)
        elif self._store.stamp(relative) is not None or self._store.totals()[0] < MAX_FILES:
            self._take(relative)
        self._store.commit()

    def defined(self, name: str, limit: int) -> list[Place]:
        """Where `name` is defined."""
        return self._store.defined(name, limit)

    def search(self, words: Iterator[str], n_words: int, limit: int) -> list[Place]:
        """The chunks that tell most about the rarest of `words`, best first."""
        return self._store.search(self._store.rarest(words, n_words), limit)

    def read(self, place: Place) -> TextFile | None:
        """The file of a place, if it is still what was indexed; else the index learns of the change."""
        path = self.folder / place.path
        file = read_text_file(path)
        if file is not None and file.stamp == place.stamp and not self.exclusions.unlisted(path):
            return file
        self.update(path)
        return None

    def close(self) -> None:
        """Let go of the database."""
        self._store.close()

    def _take(self, relative: str) -> None:
        path = self.folder / relative
        file = read_text_file(path)
        self._store.begin()
        secrets = secret_lines(file.text) if file is not None else set()
        if file is None or is_secret_text(file.text, secrets):
            self._store.drop(relative)
        else:
            self._store.put(_entry(relative, file, secrets))

    def _is_hidden(self, path: Path) -> bool:
        folders = path.relative_to(self.folder).parts[:-1]
        return any(map(is_never_entered, folders)) or self.exclusions.unlisted(path)

    def _files(self) -> Iterator[tuple[str | None, os.DirEntry[str] | None]]:
        """Files worth indexing, with a pause (no entry) now and then; one without a path says that not all was seen."""
        waiting = deque([""])
        n_visited = 0
        while waiting:
            relative = waiting.popleft()
            folder = self.folder / relative
            if relative and any((folder / marker).exists() for marker in _MARKERS):
                continue
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        n_visited += 1
                        if n_visited >= MAX_VISITED:
                            yield None, None
                            return
                        if n_visited % _ENTRIES_A_STEP == 0:
                            yield "", None
                        path = f"{relative}/{entry.name}" if relative else entry.name
                        if entry.is_dir(follow_symlinks=False):  # a linked folder may be a loop
                            if not is_never_entered(entry.name) and not self._unlisted(path, is_folder=True):
                                waiting.append(path)
                        elif self._is_wanted(entry, path):
                            yield path, entry
            except FileNotFoundError:
                continue
            except OSError:
                yield None, None  # a disk that can't be read now is no reason to forget its files

    def _is_wanted(self, entry: os.DirEntry[str], path: str) -> bool:
        is_text = entry.is_file(follow_symlinks=False) and bool(language_of(entry.name))
        return is_text and not self._unlisted(path, is_folder=False)

    def _unlisted(self, path: str, *, is_folder: bool) -> bool:
        return self.exclusions.unlisted(self.folder / path, is_folder=is_folder)


def is_never_entered(name: str) -> bool:
    """Whether a folder's name says that there is nothing to learn in it."""
    return name.startswith(".") or name in _NEVER_ENTERED


def _entry(relative: str, file: TextFile, secrets: set[int]) -> Entry:
    language = language_of(relative)
    chunks = [
        (chunk.first, chunk.after, " ".join(words_in("\n".join(file.lines[chunk.first : chunk.after]))))
        for chunk in chunks_of(file.lines)
        if secrets.isdisjoint(range(chunk.first, chunk.after))
    ]
    quotable = {line for first, after, _ in chunks for line in range(first, after)}
    names = [(one.name, one.line) for one in definitions_in(file.lines, language) if one.line in quotable]
    return Entry(relative, language, file.stamp, chunks, names[:_MOST_NAMES])
