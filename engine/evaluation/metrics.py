"""Metrics of one text against the true middle, and of a share of cases. Must not know: engines, files."""

from __future__ import annotations

import difflib
import math
from typing import Final

_Z: Final = 1.959964
"""Two-sided 95 % of the normal distribution."""


def exact_match(text: str, middle: str) -> bool:
    """Equal after whitespace at both ends is taken off."""
    return text.strip() == middle.strip()


def edit_similarity(text: str, middle: str) -> float:
    """0 to 1: `difflib.SequenceMatcher.ratio` (2 x matching characters / all characters), ends stripped."""
    a, b = text.strip(), middle.strip()
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def wilson_interval(n_good: int, n: int) -> tuple[float, float]:
    """95 % interval of a share (Wilson's score interval), 0 to 1. (0, 1) when there are no cases."""
    if n == 0:
        return 0.0, 1.0
    share = n_good / n
    centre = share + _Z**2 / (2 * n)
    spread = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    scale = 1 + _Z**2 / n
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
