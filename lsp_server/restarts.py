"""How often the engine may be started again. Owns: back-off and bound. Must not know: the engine, asyncio."""

from __future__ import annotations

from typing import Final

MAX_RESTARTS: Final = 3
WINDOW_S: Final = 60.0
_FIRST_DELAY_S: Final = 0.5


class RestartBudget:
    """At most three restarts a minute: the first at once, then after a pause that doubles."""

    def __init__(self) -> None:
        self._taken: list[float] = []

    def take(self, now_s: float) -> float | None:
        """Seconds to wait before a restart that is wanted now; None when there were too many."""
        self._taken = [then for then in self._taken if now_s - then < WINDOW_S]
        n_before = len(self._taken)
        if n_before >= MAX_RESTARTS:
            return None
        self._taken.append(now_s)
        return 0.0 if n_before == 0 else _FIRST_DELAY_S * 2 ** (n_before - 1)

    def reset(self) -> None:
        """Forget the past: a person asked."""
        self._taken.clear()
