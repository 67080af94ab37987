"""How far a pull is. Owns: the value that the command line draws."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen


@frozen
class Progress:
    """One moment of a pull."""

    stage: str
    """What is being done, in words."""
    n_done: int = 0
    """Bytes so far."""
    n_total: int = 0
    """Bytes in all; 0 when this stage can't be counted."""


OnProgress = Callable[[Progress], None]
