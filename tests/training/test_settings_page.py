"""docs/training.md names every setting that `--set` takes, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.commands.errors import BadInputError
from engine.commands.train_choices import split
from engine.training.adapt import AdaptationSettings
from engine.training.loop import LoopSettings
from engine.training.tiny import TinySettings

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


@pytest.mark.parametrize(
    ("row", "settings"),
    [("every run", LoopSettings()), ("`adapt`", AdaptationSettings()), ("`run`", TinySettings())],
)
def test_the_page_names_the_settings(row: str, settings: object) -> None:
    (line,) = [one for one in PAGE.read_text(encoding="utf-8").splitlines() if one.startswith(f"| {row}")]
    told = re.findall(r"`([\w.]+)`", line.split("|")[2])
    with pytest.raises(BadInputError) as raised:
        split(["?"], settings)
    known = str(raised.value).partition("known are ")[2].split(", ")
    assert sorted(told) == known
