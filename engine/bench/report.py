"""A benchmark's outcome. Owns: its scenarios, and the form for scripts."""

from __future__ import annotations

from typing import Any

import attrs
from attrs import Factory, define

from engine.bench.series import Ratio, Series


@define(eq=False)
class Report:
    """Everything that one run measured."""

    model: str
    family: str
    device: str
    dtype: str
    threads: int
    scenarios: dict[str, Series] = Factory(dict)
    ratios: dict[str, Ratio] = Factory(dict)
    typing: dict[str, int] = Factory(dict)
    """Counts of the keystroke replay (see `engine.bench.typing.Replay`); `wrong` must be 0."""
    same_text: str = ""
    """How many of the texts were the same as those of stock `generate()`, as `n of n`."""

    def as_json(self) -> dict[str, Any]:
        """One object for scripts."""
        plain = attrs.asdict(self, recurse=False)
        plain["scenarios"] = {name: attrs.asdict(series) for name, series in self.scenarios.items()}
        plain["ratios"] = {name: {**attrs.asdict(ratio), "met": ratio.met} for name, ratio in self.ratios.items()}
        return plain
