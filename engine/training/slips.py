"""Plausible mistakes in a text's tokens. Owns: the kinds of slips, and how they are made.

What people and quick models get wrong: another name of the file, a near name, something dropped, doubled or swapped.
Pure but for `Slips`, which knows one model's vocabulary. Must not know: canvases.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from attrs import field, frozen
from attrs.validators import ge, le
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Near = Callable[[int], Sequence[int]]
"""Tokens that are easily taken for a token."""
_TRIES: Final = 6
_SPACING: Final = 6
"""Tokens for each slip that a text may have at most, but for the first."""
_MOST: Final = 4


class SlipKind(enum.StrEnum):
    """What goes wrong."""

    OTHER = "other"
    """Another token of the same file."""
    NEAR = "near"
    """A token that is easily taken for the right one."""
    DROPPED = "dropped"
    """A token is missing; what follows moves up."""
    DOUBLED = "doubled"
    """A token stands twice; what follows moves on."""
    SWAPPED = "swapped"
    """A token has changed places with the next one."""
    RANDOM = "random"
    """Any token of the vocabulary."""


_SHARE: Final = [ge(0.0), le(1.0)]


@frozen
class SlipShares:
    """How often each kind is drawn."""

    other: float = field(default=0.3, validator=_SHARE)
    near: float = field(default=0.3, validator=_SHARE)
    dropped: float = field(default=0.12, validator=_SHARE)
    doubled: float = field(default=0.1, validator=_SHARE)
    swapped: float = field(default=0.08, validator=_SHARE)
    random: float = field(default=0.1, validator=_SHARE)

    def draw(self, rng: np.random.Generator) -> SlipKind:
        """A kind."""
        kinds = list(SlipKind)
        shares = np.array([getattr(self, kind.value) for kind in kinds])
        return kinds[int(rng.choice(len(kinds), p=shares / shares.sum()))]


def slip(
    tokens: Sequence[int],
    kind: SlipKind,
    rng: np.random.Generator,
    pool: Sequence[int] | Ints,
    near: Near,
    fill: int,
    random: Sequence[int] | Ints,
) -> list[int] | None:
    """`tokens` with one slip, as many as before; None where this kind changes nothing here.

    `pool`: tokens of the file. `fill`: what moves in at the end. `random`: tokens of the vocabulary.
    """
    made = list(map(int, tokens))
    if not made:
        return None
    at = int(rng.integers(len(made)))
    if kind is SlipKind.DROPPED:
        made = [*made[:at], *made[at + 1 :], fill]
    elif kind is SlipKind.DOUBLED:
        made = [*made[: at + 1], *made[at:-1]]
    elif kind is SlipKind.SWAPPED:
        made[at : at + 2] = reversed(made[at : at + 2])
    else:
        choices = near(made[at]) if kind is SlipKind.NEAR else pool if kind is SlipKind.OTHER else random
        if not len(choices):
            return None
        made[at] = int(choices[int(rng.integers(len(choices)))])
    return None if made == list(tokens) else made


class Slips:
    """Makes slips in one model's tokens."""

    def __init__(self, checkpoint: Path, shares: SlipShares | None = None) -> None:
        """`checkpoint`: the model's folder, of which the tokenizer is read."""
        # here, so that the rest of this file needs no torch
        from engine.training.adapted_model import fill_token
        from engine.training.hole_tokens import vocabulary_of
        from engine.training.near_names import NearNames

        vocabulary = vocabulary_of(checkpoint)
        self._shares = shares or SlipShares()
        self._near = NearNames(vocabulary)
        self._fill = fill_token(vocabulary)[1]
        self._is_text = np.ones(vocabulary.size, dtype=bool)
        self._is_text[vocabulary.banned.numpy()] = False
        self._text = np.flatnonzero(self._is_text)

    def __call__(self, tokens: Sequence[int], rng: np.random.Generator, pool: Ints) -> list[int]:
        """One slip or a few, mostly one; never none."""
        most = min(_MOST, 1 + len(tokens) // _SPACING)
        n = min(most, int(rng.geometric(0.6)))
        return self.make(tokens, n, rng, pool)

    def make(self, tokens: Sequence[int], n: int, rng: np.random.Generator, pool: Ints) -> list[int]:
        """`n` slips; fewer where later ones hit earlier ones. As many tokens as before, and not the same."""
        made = before = list(map(int, tokens))
        if not before:
            return made
        words = pool[self._is_text[pool]]  # a prompt's markers are no slips
        for _ in range(n):
            made = self._one(made, rng, words)
        return self._one(made, rng, words, SlipKind.RANDOM) if made == before else made

    def _one(self, tokens: list[int], rng: np.random.Generator, pool: Ints, kind: SlipKind | None = None) -> list[int]:
        for _ in range(_TRIES):
            drawn = kind or self._shares.draw(rng)
            made = slip(tokens, drawn, rng, pool, self._near, self._fill, self._text)
            if made is not None:
                return made
        return tokens
