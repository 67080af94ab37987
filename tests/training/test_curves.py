"""A run's picture: drawn from any journal, whole or not there."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib.image
import pytest

from engine.training.curves import draw


def step(n: int, **figures: float) -> dict[str, Any]:
    common = {"step": n, "seconds": 2.0 * n, "loss": 5.0 / (n + 1), "lr": 1e-4, "norm": 1.0, "n_tokens": 100 * n}
    return {**common, **figures}


LONG = [step(n, loss_all=5 / (n + 1), right_all=n / 1000, agreed=n / 300) for n in range(1000)]
JOURNALS: dict[str, list[dict[str, Any]]] = {
    "empty": [],
    "one step": [step(0, loss_all=3.0)],
    "more steps than points": LONG,
    "no number": [step(0), {**step(1), "loss": math.nan, "norm": math.inf}, step(2)],
    "validation of what is not trained on": [step(0), {"step": 0, "seconds": 1.0, "valid": {"loss_far": 2.0, "x": 1}}],
    "a kind that comes late": [step(0, loss_all=3.0), step(1, loss_some=2.0, right_some=0.5)],
}


@pytest.mark.parametrize("name", JOURNALS)
def test_a_picture_of_any_journal(tmp_path: Path, name: str) -> None:
    draw(JOURNALS[name], tmp_path / "curves.png", "a run")
    picture = matplotlib.image.imread(str(tmp_path / "curves.png"))
    assert picture.shape[1] > 1000
    assert picture[..., :3].min() < 0.2, "something is drawn"
    assert [file.name for file in tmp_path.iterdir()] == ["curves.png"]


def test_each_kind_of_figure_has_a_panel(tmp_path: Path) -> None:
    draw(LONG[:3], tmp_path / "many.png", "a run")
    draw([step(n) for n in range(3)], tmp_path / "few.png", "a run")
    many, few = (matplotlib.image.imread(str(tmp_path / f"{name}.png")) for name in ("many", "few"))
    assert many.shape[0] > few.shape[0]


def test_a_picture_that_can_not_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    draw(LONG[:3], tmp_path / "curves.png", "a run")
    before = (tmp_path / "curves.png").read_bytes()
    (tmp_path / "curves.png.new").mkdir()
    with pytest.raises(OSError):
        draw(LONG[:9], tmp_path / "curves.png", "a run")
    assert (tmp_path / "curves.png").read_bytes() == before
