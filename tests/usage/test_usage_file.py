"""The statistics' file: many writers, a bounded size, and nothing that breaks whoever counts."""

from __future__ import annotations

import datetime
import multiprocessing
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import usage
from engine.usage import Event, Key, UsageError

TODAY = datetime.date.today().isoformat()
SHOWN = Key(TODAY, "python", "bundled", Event.SHOWN, "engine", 12)
N_WRITERS, N_BATCHES = 3, 15


def add_often(path: Path) -> None:
    """What one server does, only faster."""
    for _ in range(N_BATCHES):
        for _attempt in range(10):
            try:
                usage.add({SHOWN: 1, Key(TODAY, "python", "bundled", Event.DISMISSED): 2}, path)
                break
            except UsageError:
                continue  # locked for long; a server would keep it for its next batch
        else:
            raise AssertionError("locked for ever")


def test_what_is_added_is_read(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    assert usage.read(path) == {} and not path.exists()
    dismissed = Key(TODAY, "", "", Event.DISMISSED)
    usage.add({SHOWN: 2, dismissed: 1}, path)
    usage.add({SHOWN: 3}, path)
    assert usage.read(path) == {SHOWN: 5, dismissed: 1}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    usage.reset(path)
    usage.reset(path)
    assert usage.read(path) == {}


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    writers = [multiprocessing.get_context("spawn").Process(target=add_often, args=(path,)) for _ in range(N_WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * N_WRITERS
    assert usage.read(path)[SHOWN] == N_WRITERS * N_BATCHES


def test_a_year_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    today = datetime.date.today()
    days = [(today - datetime.timedelta(days=n)).isoformat() for n in (0, usage.KEPT_DAYS, usage.KEPT_DAYS + 1)]
    usage.add({Key(day, "python", "m", Event.DISMISSED): 1 for day in days}, path)
    assert {key.day for key in usage.read(path)} == set(days[:2])


def test_a_broken_file_is_an_error_with_a_name(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    path.write_bytes(b"no database" * 100)
    for access in (lambda: usage.read(path), lambda: usage.add({SHOWN: 1}, path)):
        with pytest.raises(UsageError, match=r"usage\.sqlite.*not a database"):
            access()
    usage.reset(path)
    usage.add({SHOWN: 1}, path)
    assert usage.read(path) == {SHOWN: 1}


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 2")
    database.close()
    before = path.read_bytes()
    with pytest.raises(UsageError, match="version 2"):
        usage.add({SHOWN: 1}, path)
    assert path.read_bytes() == before


@given(st.floats(0.07, 60_000))
def test_times_come_back_within_a_tenth(milliseconds: float) -> None:
    assert abs(usage.milliseconds_of(usage.bucket_of(milliseconds)) / milliseconds - 1) < 0.1


def test_odd_times_have_a_bucket() -> None:
    assert usage.bucket_of(0.0) == usage.bucket_of(-5.0)
    assert usage.bucket_of(1e12) == usage.bucket_of(65536.0)
