"""The file of local statistics, shared by servers and the command line. Owns: its schema, and every access to it.

Must not know: who counts what, how figures are shown. It holds numbers for a day, a language and a model; never text
of a document, a uri or a path. Nothing is sent anywhere. Each access is one short transaction, so several servers may
write at once.
"""

from __future__ import annotations

import contextlib
import datetime
import enum
import math
import os
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from engine.paths import log_dir

KEPT_DAYS: Final = 365
_VERSION: Final = 1
_WAIT_S: Final = 1.0
"""For another writer."""
_STEPS_PER_OCTAVE: Final = 4
_SHORTEST_MS, _LONGEST_MS = 1 / 16, 65536.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS counts (
    day TEXT, language TEXT, model TEXT, event TEXT, detail TEXT, bucket INTEGER, n INTEGER NOT NULL,
    PRIMARY KEY (day, language, model, event, detail, bucket)
) WITHOUT ROWID
"""
_ADD: Final = """
INSERT INTO counts VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, language, model, event, detail, bucket) DO UPDATE SET n = n + excluded.n
"""


class UsageError(RuntimeError):
    """The file can't be used now. The message says why."""


class Event(enum.StrEnum):
    """What is counted."""

    SHOWN = "shown"
    """A suggestion; by its source, and by the time from the request to the answer."""
    NOTHING = "nothing"
    """A request that nothing was shown for; by the reason."""
    ACCEPTED = "accepted"
    """By how much of the suggestion: all, word, line, or typed through."""
    CHARACTERS = "characters"
    """Accepted characters, in the same kinds."""
    DISMISSED = "dismissed"


@frozen
class Key:
    """What one number counts."""

    day: str
    """As YYYY-MM-DD, of the user's own clock."""
    language: str
    model: str
    event: Event
    detail: str = ""
    """See the events."""
    bucket: int = 0
    """Of the time, for what is shown; see `bucket_of`."""


def bucket_of(milliseconds: float) -> int:
    """The bucket of a time. Four to an octave: what is read back is off by a tenth at most."""
    return round(_STEPS_PER_OCTAVE * math.log2(min(max(milliseconds, _SHORTEST_MS), _LONGEST_MS)))


def milliseconds_of(bucket: int) -> float:
    """The time in the middle of a bucket."""
    return float(2.0 ** (bucket / _STEPS_PER_OCTAVE))


def usage_path() -> Path:
    """Where the statistics of this user are: beside the logs. Raises `OSError`."""
    return log_dir() / "usage.sqlite"


def add(counts: Mapping[Key, int], path: Path) -> None:
    """Add to what is there, and forget what is older than a year. Raises `UsageError`."""
    oldest = (datetime.date.today() - datetime.timedelta(days=KEPT_DAYS)).isoformat()
    rows = [(k.day, k.language, k.model, k.event.value, k.detail, k.bucket, n) for k, n in counts.items()]
    with _opened(path, make=True) as database:
        database.executemany(_ADD, rows)
        database.execute("DELETE FROM counts WHERE day < ?", (oldest,))


def read(path: Path) -> dict[Key, int]:
    """Everything that is counted; empty when there is no file. Raises `UsageError`."""
    if not path.exists():
        return {}
    with _opened(path, make=False) as database:
        rows = database.execute("SELECT day, language, model, event, detail, bucket, n FROM counts").fetchall()
    known = set(Event)
    return {Key(d, lang, m, Event(e), detail, b): n for d, lang, m, e, detail, b, n in rows if e in known}


def reset(path: Path) -> None:
    """Delete the file, also a broken one. Raises `OSError`."""
    for one in (path, path.with_name(f"{path.name}-journal")):
        one.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(path: Path, *, make: bool) -> Iterator[sqlite3.Connection]:
    """The database within one transaction."""
    try:
        if make:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # its journal gets the same mode
        with contextlib.closing(sqlite3.connect(path, timeout=_WAIT_S, isolation_level="IMMEDIATE")) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise UsageError(f"{path} is of version {version}; this midfill knows version {_VERSION}")
            with database:
                if version == 0:
                    database.execute(_SCHEMA)
                    database.execute(f"PRAGMA user_version = {_VERSION}")
                yield database
    except (sqlite3.Error, OSError) as error:
        raise UsageError(f"{path}: {error}") from error
