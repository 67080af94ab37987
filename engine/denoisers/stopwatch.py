"""Times of one fill by phase. Owns: running sums in milliseconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Sums by name. On a GPU a pass is over when its numbers are read, so time whole steps, not launches."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        return self._sums.get(name, 0.0)

    @contextmanager
    def __call__(self, *names: str) -> Iterator[None]:
        """Add the time of the block to every name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            elapsed = (time.perf_counter() - start) * 1000
            for name in names:
                self._sums[name] = self[name] + elapsed
