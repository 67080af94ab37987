"""Random numbers of a fill, by counter: the same request draws the same numbers, whatever runs beside it.

Owns: the generator. Philox (Salmon et al., 2011, "Parallel random numbers: as easy as 1, 2, 3") takes a key and a
counter instead of a state, so that (seed, row, step) alone decide.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

_INITIAL = 0
"""Counter of the first canvas; denoising steps count from 1."""


class Noise:
    """Numbers for one row of one fill."""

    def __init__(self, seed: int, row: int) -> None:
        """`row`: what tells this row from its neighbours, and stays the same when they change."""
        self._key = np.array([seed % 2**64, row % 2**64], dtype=np.uint64)

    def canvas(self, n: int, choices: Tensor) -> Tensor:
        """The first canvas: `n` tokens drawn uniformly from `choices` `[k]` -> `[n]`."""
        return self._choose(self._generator(_INITIAL), n, choices)

    def step(self, step: int, n: int, choices: Tensor) -> tuple[Tensor, Tensor]:
        """For step 1, 2, ...: `n` uniform numbers in [0, 1) float64, and `n` renoising tokens from `choices`."""
        generator = self._generator(step)
        uniform = torch.from_numpy(generator.random(n))
        return uniform, self._choose(generator, n, choices)

    def _generator(self, counter: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=self._key, counter=np.array([0, 0, 0, counter], np.uint64)))

    @staticmethod
    def _choose(generator: np.random.Generator, n: int, choices: Tensor) -> Tensor:
        return choices[torch.from_numpy(generator.integers(0, len(choices), n))]
