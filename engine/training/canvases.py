"""Noised canvases of one example, for adaptation. Owns: where a canvas starts, what is masked, what is made wrong.

Pure: numpy and a seed. A canvas is `region` cells behind a pending token; `MASK` stands for the mask embedding.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from attrs import field, frozen
from attrs.validators import ge, le
from numpy.typing import NDArray

MASK: Final = -1
_LATER_FILL: Final = 0.1
"""Weight of fill cells behind the first one: most cells of a short text are such, and they are easy."""
_KEPT: Final = 0.3
"""Weight of cells that show the right token where others show a wrong one: which are which, is the task."""

Ints = NDArray[np.int64]
Slip = Callable[[Sequence[int], np.random.Generator], Sequence[int]]
"""Makes plausible mistakes in a text's tokens; keeps their number."""


class Noise(enum.StrEnum):
    """What is done to a canvas."""

    ALL = "all"
    """Every cell is masked: as a fill starts."""
    SOME = "some"
    """A random share is masked: as a fill goes on."""
    MIXED = "mixed"
    """Some are masked, and of the others some are wrong: as after an acceptance that was too quick."""
    SLIPS = "slips"
    """Nothing is masked, something is wrong: a rewriting at low strength."""


@frozen
class NoiseShares:
    """How often each kind of canvas is drawn."""

    all: float = field(default=0.45, validator=[ge(0), le(1)])
    some: float = field(default=0.3, validator=[ge(0), le(1)])
    mixed: float = field(default=0.15, validator=[ge(0), le(1)])
    slips: float = field(default=0.1, validator=[ge(0), le(1)])

    def draw(self, rng: np.random.Generator) -> Noise:
        """A kind."""
        shares = np.array([getattr(self, noise) for noise in Noise])
        return list(Noise)[int(rng.choice(len(shares), p=shares / shares.sum()))]


@frozen(eq=False)
class Canvas:
    """One noised canvas."""

    start: int
    """Tokens of the middle that lie before it."""
    noise: Noise
    inputs: Ints
    """What the cells show, `[region]`; `MASK` where nothing."""
    targets: Ints
    """What they should show, `[region]`."""
    weights: NDArray[np.float32]
    """Weight of each cell in the loss, `[region]`."""


def noised(
    text: Sequence[int], start: int, region: int, fill: int, noise: Noise, slip: Slip, rng: np.random.Generator
) -> Canvas:
    """The canvas behind the first `start` tokens of `text`; behind the text's end it shows `fill`."""
    rest = list(text[start : start + region])
    targets = np.full(region, fill, dtype=np.int64)
    targets[: len(rest)] = rest
    inputs = targets.copy()
    if noise in (Noise.MIXED, Noise.SLIPS) and rest:
        further = text[start : start + region + 1]  # what moves in where something is dropped
        wrong = list(slip(further, rng))[: len(rest)]
        inputs[: len(wrong)] = wrong
    masked = np.zeros(region, dtype=bool)
    if noise is Noise.ALL:
        masked[:] = True
    elif noise is not Noise.SLIPS:
        masked = rng.random(region) < rng.uniform(0.1, 0.95)
        if not masked.any():
            masked[int(rng.integers(region))] = True
    inputs[masked] = MASK
    weights = np.where(inputs == targets, 0.0 if noise in (Noise.ALL, Noise.SOME) else _KEPT, 1.0).astype(np.float32)
    weights[len(rest) + 1 :] *= _LATER_FILL
    return Canvas(start, noise, inputs, targets, weights)
