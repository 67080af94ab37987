"""`midfill stats`, as a process, on counts of known days."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine import usage
from engine.usage import Event, Key
from tests.conftest import PrivateFolders

TODAY = datetime.date.today()
MIDFILL = str(Path(sys.executable).with_name("midfill"))


def midfill(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `midfill stats`."""
    wide = {**os.environ, "COLUMNS": "100"}
    return subprocess.run([MIDFILL, "stats", *arguments], capture_output=True, text=True, timeout=60, env=wide)


def day(n_ago: int) -> str:
    """A day before today."""
    return (TODAY - datetime.timedelta(days=n_ago)).isoformat()


@pytest.fixture
def counted(private_folders: PrivateFolders) -> Path:
    """The file of a user of three weeks."""
    path = usage.usage_path()
    assert path.parent == private_folders.logs
    counts: dict[Key, int] = {}
    for n_ago, n in ((0, 1), (6, 10), (20, 100)):
        python, rust = (day(n_ago), "python", "small"), (day(n_ago), "rust", "small")
        counts |= {
            Key(*python, Event.SHOWN, "engine", usage.bucket_of(100)): 8 * n,
            Key(*python, Event.SHOWN, "engine", usage.bucket_of(900)): 2 * n,
            Key(*rust, Event.SHOWN, "session", usage.bucket_of(0.1)): 5 * n,
            Key(*python, Event.NOTHING, "follows_already"): 3 * n,
            Key(*rust, Event.NOTHING, "no_engine"): 2 * n,
            Key(*python, Event.ACCEPTED, "all"): 4 * n,
            Key(*python, Event.CHARACTERS, "all"): 80 * n,
            Key(*rust, Event.ACCEPTED, "typed"): 1 * n,
            Key(*rust, Event.CHARACTERS, "typed"): 3 * n,
            Key(day(n_ago), "rust", "", Event.DISMISSED): 1 * n,
        }
    usage.add(counts, path)
    return path


def test_json(counted: Path) -> None:
    told: dict[str, Any] = json.loads(midfill("--json").stdout)
    assert told["since"] == day(20)
    for period, n in (("today", 1), ("7 days", 11), ("all", 111)):
        total = told["periods"][period]["total"]
        assert (total["asked"], total["shown"], total["dismissed"]) == (15 * n, 10 * n, n), (
            "typing through shows nothing new"
        )
        assert total["nothing"] == {"follows_already": 3 * n, "no_engine": 2 * n}
        assert total["accepted"] == {"all": 4 * n, "typed": n}
        assert total["accepted_characters"] == 83 * n
    times = told["periods"]["all"]["total"]["latency_ms"]
    assert times["engine"]["n"] == 1110
    assert abs(times["engine"]["p50"] - 100) < 10 and abs(times["engine"]["p90"] - 900) < 90
    assert list(told["periods"]["all"]["languages"]) == ["python", "rust"]
    assert told["periods"]["today"]["models"][""]["dismissed"] == 1
    assert told["periods"]["today"]["models"]["small"]["shown"] == 10


def test_the_table(counted: Path) -> None:
    shown = midfill().stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["asked", "for", "15", "165", "1665"] in lines
    assert ["follows", "already", "3", "33", "333"] in lines
    (times,) = [line for line in lines if line[:3] == ["by", "the", "engine"]]
    assert times[3:8] == times[8:13] == times[13:18]
    assert "python" in shown and "(none)" not in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_nothing_counted_then_reset(counted: Path) -> None:
    assert midfill("--reset").returncode == 0
    assert not counted.exists()
    done = midfill()
    assert done.returncode == 0 and "Nothing is counted yet" in done.stdout
    empty = json.loads(midfill("--json").stdout)
    assert empty["since"] is None and empty["periods"]["all"]["total"]["asked"] == 0


def test_a_broken_file(counted: Path) -> None:
    counted.write_bytes(b"no database" * 100)
    done = midfill()
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1 and "--reset" in done.stderr
    assert midfill("--reset").returncode == 0
    assert midfill().returncode == 0
