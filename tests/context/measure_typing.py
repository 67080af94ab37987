"""How often snippets change while somebody types: `python -m tests.context.measure_typing [FOLDER]`.

Types the Python files of a folder (by default an installed package) back character by character, at 30 to 120 ms a key
by a simulated clock, with pauses after some lines, a jump to another place now and then, and other files of the folder
open. A change while typing on in one place costs the engine a whole prompt; one at a jump costs little.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from lsp_server.context.context import Context
from lsp_server.positions import Point
from tests.context.conftest import Time, document

KEYS = 6000
LINES_A_VISIT = 12


async def measure(folder: Path, paths: list[Path]) -> None:
    """Type these files of a folder, and print the figures."""
    chance = random.Random(7)
    clock = Time()
    context = Context(clock)
    context.set_folders([folder])
    for path in chance.sample(paths, min(3, len(paths))):
        context.opened(document(path))
    await context.settled()
    n_keys = n_jumps = n_typing = n_chars = 0
    calls: list[float] = []
    while n_keys < KEYS:
        target = document(chance.choice(paths))
        context.opened(target)
        for _ in range(4):  # visits to places of this file
            start = chance.randrange(max(1, len(target.lines) - LINES_A_VISIT))
            typed = target.lines[start : start + LINES_A_VISIT]
            del target.lines[start + 1 : start + LINES_A_VISIT]
            n_jumps += 1
            last = None
            clock.now_s += chance.uniform(1, 20)
            for offset, text in enumerate(typed):
                line = min(start + offset, len(target.lines) - 1)
                target.lines[line:line] = [""] if offset else []
                for column in range(1, len(text)):
                    target.lines[line] = text[:column] + "\n"
                    target.version += 1
                    clock.now_s += chance.uniform(0.03, 0.12)
                    point = Point(line, column)
                    began_s = time.perf_counter()
                    context.edited(target, point)
                    calls.append(time.perf_counter() - began_s)
                    await context.settled()
                    began_s = time.perf_counter()
                    snippets = context.snippets(target, point)
                    calls.append(time.perf_counter() - began_s)
                    n_keys += 1
                    n_typing += last is not None and snippets is not last
                    last = snippets
                    n_chars += sum(len(one.path) + len(one.text) for one in snippets)
                if chance.random() < 0.3:
                    clock.now_s += chance.uniform(1, 15)
        context.closed(target.uri)
    await context.close()
    calls.sort()
    print(f"keys: {n_keys}, jumps: {n_jumps}")
    print(f"changes while typing on: {n_typing} ({100 * n_typing / n_keys:.2f} per 100 keys)")
    print(f"characters quoted, mean: {n_chars / n_keys:.0f}")
    print(f"a call: p50 {calls[len(calls) // 2] * 1000:.2f} ms, p95 {calls[int(len(calls) * 0.95)] * 1000:.2f} ms")


def main() -> None:
    """Measure one folder."""
    spec = importlib.util.find_spec("click")
    assert spec is not None and spec.origin is not None
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(spec.origin).parent
    paths = sorted(path for path in folder.rglob("*.py") if 4000 < path.stat().st_size < 200_000)
    with tempfile.TemporaryDirectory(prefix="midfill-typing-") as cache:
        os.environ["MIDFILL_CACHE_DIR"] = cache
        asyncio.run(measure(folder, paths))


if __name__ == "__main__":
    main()
