"""A short keystroke replay: the real server, a scripted engine."""

from __future__ import annotations

import itertools
from pathlib import Path

import engine.client
from engine.bench.typing import Pace, replay
from engine.protocol import Fill
from tests.conftest import PrivateFolders
from tests.scripted_engine import Answer, ScriptedEngine, Show

SOURCES = [Path(str(engine.client.__file__)).read_text(encoding="utf-8"), "é = '😀𝕏'  # 中\n" * 40]
TEXTS = ("value = 1", "(self, other)", "x", "for i in range(10):\n        print(i)", "", "return '😀'\n")


async def test_nothing_stale_misplaced_or_doubled(private_folders: PrivateFolders) -> None:
    texts = itertools.cycle(TEXTS)

    def script(fill: Fill) -> list[Show | Answer]:
        text = next(texts)
        return [Show(text[:3], text[3:]), Answer.of(text)]

    async with ScriptedEngine(private_folders.endpoint) as engine:
        engine.otherwise = script
        found = await replay(SOURCES, Pace(n_keys=300, n_editors=2, speed=2.0, seed=1))
        n_fills = len(engine.so_far(Fill))
    assert found.n_keys == len(found.handled_ms) == len(found.busy_ms) == 300
    assert found.n_wrong == 0, found.counts()
    assert found.n_shown == len(found.shown_ms) > 0
    assert 0 < n_fills < 300, "an engine call for each pause, not for each key"
    assert len(found.halfway_mb) == len(found.end_mb) == 2
