"""What the server counts: in memory at once, in the file later, and never in the way."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest

from engine import usage
from engine.usage import Event, Key
from lsp_server.outcomes import Nothing
from lsp_server.usage import Decision, Usage

SHOWN = Decision("python", "bundled", invoked=False, source="engine", nothing=None, latency_ms=420.0)
UNSURE = attrs.evolve(SHOWN, nothing=Nothing.UNSURE)


@pytest.fixture
async def attempts(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[str]:
    """How each attempt to write ends: nothing, or the error."""
    loop, ends = asyncio.get_running_loop(), asyncio.Queue[str]()

    def add(counts: Mapping[Key, int], path: Path) -> None:
        told = ""
        try:
            usage.add(counts, path)
        except usage.UsageError as error:
            told = str(error)
            raise
        finally:
            loop.call_soon_threadsafe(ends.put_nowait, told)

    monkeypatch.setattr("lsp_server.usage.add", add)
    return ends


def read(path: Path) -> dict[tuple[str, str, str], int]:
    """Counts by language, event and detail."""
    found: dict[tuple[str, str, str], int] = {}
    for key, n in usage.read(path).items():
        place = (key.language, key.event.value, key.detail)
        found[place] = found.get(place, 0) + n
    return found


async def test_everything_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    counting = Usage(path)
    for decision in (SHOWN, attrs.evolve(SHOWN, source="session", latency_ms=0.2), UNSURE, UNSURE):
        counting.note(decision)
    counting.accepted("python", "bundled", "word", 5)
    counting.accepted("python", "bundled", "all", 30)
    counting.dismissed("python", "bundled")
    assert not path.exists(), "not on the way of a keystroke"
    await counting.close()
    assert read(path) == {
        ("python", "shown", "engine"): 1,
        ("python", "shown", "session"): 1,
        ("python", "nothing", "unsure"): 2,
        ("python", "accepted", "word"): 1,
        ("python", "accepted", "all"): 1,
        ("python", "characters", "word"): 5,
        ("python", "characters", "all"): 30,
        ("python", "dismissed", ""): 1,
    }


async def test_batches_are_written_while_the_server_lives(tmp_path: Path, attempts: asyncio.Queue[str]) -> None:
    path = tmp_path / "usage.sqlite"
    counting = Usage(path, write_every_s=0.0)
    for n in range(1, 4):
        counting.note(UNSURE)
        assert await attempts.get() == ""
        assert sum(usage.read(path).values()) == n
    await counting.close()


async def test_a_server_with_nothing_to_count_has_no_timer_and_no_file(tmp_path: Path) -> None:
    before, path = asyncio.all_tasks(), tmp_path / "usage.sqlite"
    counting = Usage(path)
    assert asyncio.all_tasks() == before
    await counting.close()
    assert not path.exists()


async def test_the_last_decisions_stay_in_memory(tmp_path: Path) -> None:
    counting = Usage(tmp_path / "usage.sqlite")
    for n in range(30):
        counting.note(attrs.evolve(SHOWN, latency_ms=float(n)))
    assert [decision.latency_ms for decision in counting.recent()] == [float(n) for n in range(10, 30)]
    await counting.close()


async def test_a_broken_file_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, attempts: asyncio.Queue[str]
) -> None:
    path = tmp_path / "usage.sqlite"
    path.write_bytes(b"no database" * 100)
    counting = Usage(path, write_every_s=0.0)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            counting.note(SHOWN)
            assert "not a database" in await attempts.get()
        await counting.close()
    assert len(caplog.records) == 1
    assert counting.recent() == (SHOWN,) * 3


async def test_what_could_not_be_written_goes_with_the_next_batch(tmp_path: Path, attempts: asyncio.Queue[str]) -> None:
    path = tmp_path / "usage.sqlite"
    usage.add({}, path)
    counting = Usage(path, write_every_s=0.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    counting.note(SHOWN)
    assert "locked" in await attempts.get()
    other.execute("ROLLBACK")
    other.close()
    assert usage.read(path) == {}
    counting.note(UNSURE)
    await counting.close()
    assert attempts.get_nowait() == ""
    assert read(path) == {("python", "shown", "engine"): 1, ("python", "nothing", "unsure"): 1}


@pytest.mark.parametrize("name", ["/home/me/secret.py", "a b", "x" * 100, "é\n", "def f(): return 1"])
async def test_no_text_gets_in_by_a_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite"
    counting = Usage(path)
    counting.note(attrs.evolve(SHOWN, language=name, model=name))
    await counting.close()
    ((key, n),) = usage.read(path).items()
    assert (key.language, key.model, key.event, n) == ("other", "other", Event.SHOWN, 1)
    assert name.encode() not in path.read_bytes()
