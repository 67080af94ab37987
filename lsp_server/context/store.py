"""The index of one workspace folder on disk. Owns: a SQLite database with full-text search (FTS5), its tables.

Must not know: how files are found and cut. Holds names, words and line numbers; a file's text is read from the file
when it is quoted, so nothing outdated can be quoted. Several servers may share the file (WAL); one thread of each uses
it. Whatever is wrong with the file, it is made anew: it is a cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs
from attrs import frozen

if TYPE_CHECKING:
    import sqlite3

_VERSION: Final = 1
"""Of tables and of what is put into them; another one's file is made anew."""
_PAGES_KIB: Final = 2048
"""Bounds the memory that the database takes."""
_BUSY_S: Final = 2.0
_WAITS_S: Final = (0.05, 0.2, 0.5)
_KEPT_DAYS: Final = 60
_SECONDS_A_DAY: Final = 86400
_TABLES: Final = """
create table files (id integer primary key, path text not null unique, language text not null, size int, mtime int);
create table chunks (id integer primary key, file int not null, first int not null, after int not null);
create index chunks_by_file on chunks (file);
create table names (name text not null, file int not null, line int not null,
                    primary key (name, file, line)) without rowid;
create index names_by_file on names (file);
create virtual table words using fts5 (body, tokenize = "unicode61 tokenchars '_'", columnsize = 1);
create virtual table terms using fts5vocab (words, 'row');
"""


@frozen
class Stamp:
    """What tells that a file has changed."""

    size: int
    mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Of a file's status."""
        return cls(status.st_size, status.st_mtime_ns)


@frozen
class Place:
    """Lines of a file, without the last; of a definition: its line alone."""

    path: str
    """Relative to the folder, with `/`."""
    language: str
    stamp: Stamp
    """Of the file when it was read."""
    first: int
    after: int


@frozen
class Entry:
    """What is kept of one file."""

    path: str
    language: str
    stamp: Stamp
    chunks: Sequence[tuple[int, int, str]]
    """First line, line after the last, words."""
    names: Sequence[tuple[str, int]]
    """Defined names and their lines."""


class Store:
    """An open database. Raises `sqlite3.Error`, mostly because another server is writing."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection = _opened(file)

    def stamps(self) -> dict[str, Stamp]:
        """All files that are held."""
        rows = self._connection.execute("select path, size, mtime from files")
        return {path: Stamp(size, mtime) for path, size, mtime in rows}

    def totals(self) -> tuple[int, int]:
        """Files held, and their bytes."""
        n_files, n_bytes = self._connection.execute("select count(*), coalesce(sum(size), 0) from files").fetchone()
        return n_files, n_bytes

    def stamp(self, path: str) -> Stamp | None:
        """Of one file; None when it is not held."""
        row = self._connection.execute("select size, mtime from files where path = ?", (path,)).fetchone()
        return Stamp(*row) if row else None

    def put(self, entry: Entry) -> None:
        """Hold a file, in place of what was held of it. Kept at the next `commit`."""
        run = self._connection.execute
        self.drop(entry.path)
        stamp = entry.stamp
        file = run(
            "insert into files (path, language, size, mtime) values (?, ?, ?, ?)",
            (entry.path, entry.language, stamp.size, stamp.mtime_ns),
        ).lastrowid
        for first, after, words in entry.chunks:
            chunk = run("insert into chunks (file, first, after) values (?, ?, ?)", (file, first, after)).lastrowid
            run("insert into words (rowid, body) values (?, ?)", (chunk, words))
        self._connection.executemany(
            "insert or ignore into names values (?, ?, ?)", [(name, file, line) for name, line in entry.names]
        )

    def drop(self, path: str) -> None:
        """Forget a file, or all below a folder. Kept at the next `commit`."""
        run = self._connection.execute
        below = run("select id from files where path = ? or (path > ? and path < ?)", (path, path + "/", path + "0"))
        for (file,) in below.fetchall():
            run("delete from words where rowid in (select id from chunks where file = ?)", (file,))
            run("delete from chunks where file = ?", (file,))
            run("delete from names where file = ?", (file,))
            run("delete from files where id = ?", (file,))

    def commit(self) -> None:
        """Keep what was put and dropped, and let others write."""
        if self._connection.in_transaction:
            self._connection.execute("commit")

    def begin(self) -> None:
        """Become the one who writes, until `commit`."""
        if not self._connection.in_transaction:
            self._connection.execute("begin immediate")

    def defined(self, name: str, limit: int) -> list[Place]:
        """Where `name` is defined."""
        rows = self._connection.execute(
            "select path, language, size, mtime, line, line + 1 from names join files on files.id = names.file"
            " where name = ? limit ?",
            (name, limit),
        )
        return _places(rows)

    def rarest(self, words: Iterable[str], limit: int) -> list[str]:
        """Those of `words` that tell most: held, and rarest first."""
        run = self._connection.execute
        counted = []
        for word in dict.fromkeys(words):
            row = run("select doc from terms where term = ?", (word,)).fetchone()
            if row:
                counted.append((row[0], word))
        return [word for _, word in sorted(counted)[:limit]]

    def search(self, words: Sequence[str], limit: int) -> list[Place]:
        """The chunks that tell most about `words`, by BM25, best first."""
        query = " OR ".join(f'"{word}"' for word in words)
        if not query:
            return []
        rows = self._connection.execute(
            "select path, language, size, mtime, first, after from"
            " (select rowid as chunk, rank from words where words match ? order by rank limit ?)"
            " join chunks on chunks.id = chunk join files on files.id = chunks.file order by rank",
            (query, limit),
        )
        return _places(rows)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def index_file(folder: Path) -> Path:
    """Where the index of a workspace folder lies: in the user's cache, never in the workspace."""
    told = os.environ.get("MIDFILL_CACHE_DIR")
    cache = Path(told).expanduser().absolute() if told else Path(platformdirs.user_cache_dir("midfill"))
    name = hashlib.blake2b(os.fsencode(folder), digest_size=12).hexdigest()
    return cache / "index" / f"{name}.sqlite"


def _places(rows: Iterable[tuple[str, str, int, int, int, int]]) -> list[Place]:
    return [Place(path, language, Stamp(size, mtime), *lines) for path, language, size, mtime, *lines in rows]


def _opened(file: Path) -> sqlite3.Connection:
    import sqlite3

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.chmod(0o700)
    _forget_unused(file)
    for wait_s in _WAITS_S:
        try:
            return _connected(file)
        except sqlite3.OperationalError as error:
            if "no such module" in str(error):
                raise
            if "locked" not in str(error):
                break
            time.sleep(wait_s)  # another server makes the same file
        except sqlite3.DatabaseError:
            break
    else:
        return _connected(file)
    return _anew(file)


def _anew(file: Path) -> sqlite3.Connection:
    for ending in ("", "-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)
    return _connected(file)


def _connected(file: Path) -> sqlite3.Connection:
    import sqlite3

    file.touch(mode=0o600)  # its WAL gets the same mode; and the time says that it is in use
    connection = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None, cached_statements=32)
    try:
        run = connection.execute
        run("pragma journal_mode = wal")
        run("pragma synchronous = normal")
        run(f"pragma cache_size = -{_PAGES_KIB}")
        run("pragma wal_autocheckpoint = 500")
        run("pragma journal_size_limit = 4194304")
        held = run("pragma user_version").fetchone()[0]
        if held != _VERSION:
            run("begin immediate")
            if run("pragma user_version").fetchone()[0] != _VERSION:  # nobody else was quicker
                if held:
                    raise sqlite3.DatabaseError("tables of another version")
                for statement in _TABLES.split(";\n"):
                    run(statement)
                run(f"pragma user_version = {_VERSION}")
            run("commit")
    except BaseException:
        connection.close()
        raise
    return connection


def _forget_unused(file: Path) -> None:
    """Remove indexes of folders that nobody has opened for long."""
    oldest = time.time() - _KEPT_DAYS * _SECONDS_A_DAY
    for other in file.parent.glob("*.sqlite*"):
        with contextlib.suppress(OSError):
            if not other.name.startswith(file.name) and other.stat().st_mtime < oldest:
                other.unlink()
