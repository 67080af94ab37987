"""Rows of documents for the tiny model: holes and windows of the corpus. Owns: how a row is drawn by chance.

Must not know: canvases, noise, losses.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np

from engine.training.sheets import Hole, Ints
from engine.training.token_shard import TokenShard

_WINDOWS: Final = (96, 160, 240, 320)
"""Lengths of documents cut from the corpus, in tokens."""
_LEAST: Final = 48
"""Tokens of a row that are worth another document."""
_TRIES: Final = 3
"""Holes that are tried before the rest of a row goes to the corpus."""


class HoleSet(Protocol):
    """Examples of holes (`engine.training.examples.ExampleSet`)."""

    @property
    def fingerprint(self) -> str:
        """Of the contents."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Hole: ...


class Documents:
    """Draws documents."""

    def __init__(self, tokens: TokenShard, holes: HoleSet, share: float) -> None:
        """`share`: of documents that are holes."""
        self.tokens, self.holes, self._share = tokens, holes, share

    def row(self, length: int, rng: np.random.Generator) -> list[Ints | Hole]:
        """Documents of at most `length` tokens in all."""
        row: list[Ints | Hole] = []
        left, failed = length, 0
        while left >= _LEAST:
            if failed < _TRIES and rng.random() < self._share:
                hole = self.holes[int(rng.integers(len(self.holes)))]
                if len(hole.prompt) <= left:
                    row.append(hole)
                    left -= len(hole.prompt)
                else:
                    failed += 1
                continue
            window = self.tokens.window(min(left, _WINDOWS[int(rng.integers(len(_WINDOWS)))]), rng)
            row.append(window)
            left -= max(1, len(window))
        return row
