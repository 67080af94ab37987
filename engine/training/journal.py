"""What a journal's entries hold. Owns: which of their values are figures, and how those are grouped. Pure.

Objectives name their figures: `loss_KIND` is a loss in nats, `right_KIND` a share of cells that are right, any other
name stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LOSS: Final = "loss"
RIGHT: Final = "right"
_NO_FIGURES: Final = frozenset({"step", "seconds", "loss", "lr", "norm", "n_tokens"})


def is_step(entry: Mapping[str, Any]) -> bool:
    """A step of training, not a validation."""
    return "loss" in entry


def grouped(figures: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Figures by group and kind: `{"loss": {"all": 2.1, "some": 1.7}, "agreed": {"agreed": 2.3}}`."""
    found: dict[str, dict[str, float]] = {}
    for name, value in figures.items():
        if name in _NO_FIGURES or not isinstance(value, int | float):
            continue
        group, _, kind = name.partition("_")
        if group not in (LOSS, RIGHT) or not kind:
            group = kind = name
        found.setdefault(group, {})[kind] = value
    return found
