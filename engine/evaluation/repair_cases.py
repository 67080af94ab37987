"""Repair cases: lines of the held-out packages with slips in them. Owns: which lines, how many slips.

Same seed and same packages, same cases. Must not know: how anything is mended.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import attrs

from engine.evaluation.cases import Case, Kind
from engine.evaluation.rebuild import Source, held_out_cases
from engine.evaluation.slips import n_words, names_of, slipped

_KINDS: Final = (Kind.NO_SLIP, Kind.ONE_SLIP, Kind.TWO_SLIPS, Kind.THREE_SLIPS, Kind.FOUR_SLIPS)
_MOST: Final = len(_KINDS) - 1
"""Slips."""


def repair_cases(sources: Sequence[Source], seed: int) -> list[Case]:
    """Each line as it is, and with one to four slips; lines that are too short for four are left out.

    The same lines for every number of slips, so that the numbers can be compared.
    """
    names = {(source.package, source.path): names_of(source.text) for source in sources}
    made: list[Case] = []
    for case in held_out_cases(sources, seed, lambda text, start, end: n_words(text[start:end]) >= 2 * _MOST):
        if case.kind is not Kind.LINE:
            continue
        package = case.id.partition("/")[0]
        rng = random.Random(f"{seed}:{case.id}")  # of its own: a line does not depend on those before it
        drafts = [slipped(case.middle, n, names[package, case.path], rng) for n in range(_MOST + 1)]
        with_slips = [
            attrs.evolve(case, id=f"{case.id}:{n}", kind=kind, draft=draft)
            for n, (kind, draft) in enumerate(zip(_KINDS, drafts, strict=True))
            if draft is not None
        ]
        if len(with_slips) == len(_KINDS):
            made += with_slips
    return made
