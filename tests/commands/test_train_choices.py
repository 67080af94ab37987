"""Settings of a run as text: read as what they are, refused with a hint, kept and restored."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from attrs import field, frozen

from engine.commands.errors import BadInputError
from engine.commands.train_choices import changed, restored, split
from engine.training.loop import LoopSettings
from engine.training.schedule import Schedule


@frozen
class Inner:
    share: float = field(default=0.5, validator=attrs.validators.le(1.0))


@frozen
class Recipe:
    rank: int = 16
    lr: float = 4e-4
    name: str = "small"
    tied: bool = True
    sizes: tuple[int, ...] = (8, 16)
    inner: Inner = field(factory=Inner)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rank=8", Recipe(rank=8)),
        ("lr=1e-3", Recipe(lr=1e-3)),
        ("lr=1", Recipe(lr=1.0)),
        ("name=8", Recipe(name="8")),
        ("name=a=b", Recipe(name="a=b")),
        ("tied=false", Recipe(tied=False)),
        ("sizes=[1, 2, 3]", Recipe(sizes=(1, 2, 3))),
        ("inner.share=0.25", Recipe(inner=Inner(0.25))),
    ],
)
def test_a_value_is_read_as_what_the_setting_is(text: str, wanted: Recipe) -> None:
    (values,) = split([text], Recipe())
    made = changed(Recipe(), values)
    assert made == wanted
    assert type(made.lr) is float


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rank", "must be NAME=VALUE"),
        ("rnak=8", "did you mean rank=...?"),
        ("=", "known are"),
        ("inner=1", "did you mean inner.share=...?"),
        ("rank=1.5", "rank: must be a whole number, not 1.5"),
        ("lr=quick", "lr: must be a number, not quick"),
        ("tied=yes", "tied: must be true or false"),
        ("sizes=3", "sizes: must be a list"),
        ("inner.share=2", "share"),
    ],
)
def test_what_does_not_fit_is_refused(text: str, told: str) -> None:
    with pytest.raises(BadInputError) as raised:
        (values,) = split([text], Recipe())
        changed(Recipe(), values)
    assert told in str(raised.value)


def test_each_setting_goes_where_its_name_is() -> None:
    of_recipe, of_loop = split(["rank=8", "schedule.warm_up=3", "clip=2"], Recipe(), LoopSettings())
    assert of_recipe == {"rank": "8"}
    assert changed(LoopSettings(), of_loop) == LoopSettings(schedule=Schedule(warm_up=3), clip=2.0)


def test_what_a_file_kept_is_restored() -> None:
    made = Recipe(rank=4, sizes=(1,), inner=Inner(0.1), tied=False)
    kept: dict[str, Any] = json.loads(json.dumps({**attrs.asdict(made), "objective": "adapt", "gone": 3}))
    assert restored(Recipe(), kept) == made
    assert restored(Recipe(), {"rank": 4}) == Recipe(rank=4)
    with pytest.raises(ValueError, match="whole number"):
        restored(Recipe(), {"rank": "many"})
