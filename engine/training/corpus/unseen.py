"""What must not come into the corpus, known by its contents. Owns: when a text is too near to it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.training.corpus.benchmark import Benchmark
from engine.training.corpus.known_lines import KnownLines
from engine.training.corpus.manifest import Dropped
from engine.training.corpus.source_text import SourceText
from engine.wheels import python_files

_SHARE: Final = 0.3
"""Of a text's longer lines; more of them in held-out packages, and it is taken for theirs."""


class Unseen:
    """Held-out packages, and a benchmark's problems."""

    def __init__(self, benchmark: Benchmark | None) -> None:
        self._benchmark = benchmark
        self._texts: set[str] = set()
        self._lines = KnownLines()

    def add(self, name: str, wheel: Path) -> None:
        """Hold out a package's files, all of them."""
        for path, data in python_files(wheel):
            text = data.decode("utf-8", "replace").replace("\r\n", "\n")
            if text.strip():
                self._texts.add(SourceText(name, path, text).sha256)
                self._lines.add(text)

    def why_not(self, source: SourceText) -> Dropped | None:
        """What a text shares with it."""
        if source.sha256 in self._texts or self._lines.share(source.text) > _SHARE:
            return Dropped.HELD_OUT
        return Dropped.BENCHMARK if self._benchmark and self._benchmark.is_in(source.text) else None
