"""A row of bars that shows how a value went. Owns: its characters. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final

_BARS: Final = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """`values` in at most `width` characters, from the lowest bar to the highest; what is no number is left out."""
    sound = [value for value in values if math.isfinite(value)]
    n = min(len(sound), max(width, 0))
    if not n:
        return ""
    edges = [len(sound) * index // n for index in range(n + 1)]
    means = [sum(sound[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
    low, high = min(means), max(means)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((mean - low) * scale)] for mean in means)
