"""How somebody types. Owns: how long to wait after a key before asking. Must not know: requests, the engine.

The wait adapts: a little longer than most of the recent gaps between keys, so that a burst of typing asks once, when it
ends, and a slow typist is not kept waiting longer than a quick one's burst would take.
"""

from __future__ import annotations

from collections import deque
from typing import Final

LEAST_PAUSE_S: Final = 0.03
MOST_PAUSE_S: Final = 0.2
_FIRST_PAUSE_S: Final = 0.075
"""While there is nothing to go by."""
_SAME_BURST_S: Final = 0.35
"""A longer gap between keys is a pause, and says nothing about the rhythm."""
_N_GAPS: Final = 10
_MARGIN: Final = 1.25


class Rhythm:
    """The gaps between the last keys in one document."""

    def __init__(self) -> None:
        self._gaps: deque[float] = deque(maxlen=_N_GAPS)
        self._last: float | None = None

    def key(self, now_s: float) -> None:
        """An edit came."""
        if self._last is not None and (gap := now_s - self._last) <= _SAME_BURST_S:
            self._gaps.append(gap)
        self._last = now_s

    def wait_s(self, now_s: float) -> float:
        """Seconds still to wait for the pause, seen from now."""
        if self._last is None:
            return 0.0  # nobody has typed yet: the cursor was put here
        return max(0.0, self._last + self.pause_s - now_s)

    @property
    def pause_s(self) -> float:
        """A gap after the last key that counts as a pause."""
        if not self._gaps:
            return _FIRST_PAUSE_S
        ordered = sorted(self._gaps)
        long_gap = ordered[-max(1, len(ordered) // 4)]  # most gaps are shorter
        return min(max(long_gap * _MARGIN, LEAST_PAUSE_S), MOST_PAUSE_S)
