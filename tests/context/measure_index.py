"""What the index costs on a large tree: run `python -m tests.context.measure_index [FILES]`, by default 100,000.

Prints one figure a line. The tree is made anew in a temporary folder: a third of its files are git-ignored or lie in
folders that are never entered, the rest are Python modules that import each other.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from lsp_server.context.context import Context
from lsp_server.context.store import index_file
from lsp_server.positions import Point
from tests.context.conftest import document, inotify_watches

FILES_A_FOLDER = 100
MODULE = '''"""Module {n}."""

from module_{other} import make_{other}, Part{other}


class Part{n}:
    """Part {n} of {word}."""

    {word}: int = {n}

    def {word}_of(self, value: int) -> int:
        """The {word} of a value."""
        return value * self.{word} + {n}


def make_{n}(value: int) -> Part{n}:
    """Make part {n}."""
    part = Part{n}()
    part.{word} = make_{other}(value).{word}
    return part
'''
WORDS = ("weight", "height", "colour", "offset", "budget", "margin", "factor", "volume", "radius", "length")


def make_tree(folder: Path, n_files: int) -> Path:
    """Write the tree; its last module."""
    chance = random.Random(7)
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("generated/\n*.tmp.py\n")
    last = folder
    for first in range(0, n_files, FILES_A_FOLDER):
        kind = ("src", "src", "src", "src", "generated", "node_modules")[first // FILES_A_FOLDER % 6]
        inner = folder / kind / f"area{first // 10_000}" / f"part{first}"
        inner.mkdir(parents=True)
        for n in range(first, min(first + FILES_A_FOLDER, n_files)):
            file = inner / f"module_{n}.py"
            file.write_text(MODULE.format(n=n, other=chance.randrange(n_files), word=chance.choice(WORDS)))
            last = file if kind == "src" else last
    return last


def quantile(values: list[float], share: float) -> float:
    """A quantile, in milliseconds."""
    return sorted(values)[int(share * (len(values) - 1))] * 1000 if values else 0.0


async def measure(folder: Path, last: Path) -> Iterator[str]:
    """The figures, as lines."""
    process = psutil.Process()
    figures: list[str] = []
    target = document(last)
    point = Point(len(target.lines) - 4, 8)
    for name in ("first", "second"):
        before = process.memory_info().rss
        context = Context()
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        context.opened(target)
        context.set_folders([folder])
        calls: list[float] = []
        n_files = peak = 0
        while not await context.settled(0.05):
            call_s = time.perf_counter()
            context.snippets(target, point)  # what a keystroke costs meanwhile
            calls.append(time.perf_counter() - call_s)
            n_files = max(n_files, process.num_fds())
            peak = max(peak, process.memory_info().rss)
        figures += [
            f"{name} build, wall: {time.perf_counter() - began_s:.1f} s",
            f"{name} build, CPU: {time.process_time() - began_cpu_s:.1f} s",
            f"{name} build, memory: {(max(peak, process.memory_info().rss) - before) / 2**20:.0f} MiB more",
            f"{name} build, open files: {n_files}, inotify watches: {inotify_watches()}",
            f"{name} build, a question meanwhile: p50 {quantile(calls, 0.5):.2f} ms, p95 {quantile(calls, 0.95):.2f}",
        ]
        await context.close()
    context = Context()
    began_s = time.perf_counter()
    context.opened(target)
    context.set_folders([folder])
    while not (snippets := context.snippets(target, point)):
        await context.settled(0.002)
    figures += [
        f"from the start to snippets, index there: {(time.perf_counter() - began_s) * 1000:.0f} ms"
        f" ({len(snippets)} files quoted)",
        f"index file: {index_file(folder).stat().st_size / 2**20:.0f} MiB",
    ]
    await context.close()
    return iter(figures)


def main() -> None:
    """Make the tree and print the figures."""
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="midfill-index-") as root:
        os.environ["MIDFILL_CACHE_DIR"] = str(Path(root) / "cache")
        folder = Path(root) / "tree"
        folder.mkdir()
        last = make_tree(folder, n_files)
        print(f"files: {n_files}")
        for figure in asyncio.run(measure(folder, last)):
            print(figure)


if __name__ == "__main__":
    main()
