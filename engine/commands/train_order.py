"""What the command line and a run's folder say about a run, together. Owns: how a run begins, and how it goes on.

Must not know: models, objectives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import field, frozen

from engine.commands.errors import BadInputError
from engine.commands.train_choices import changed, restored, split
from engine.training.loop import LoopSettings
from engine.training.run_folder import RunError, RunFolder

DefaultOf = Callable[[str], Any]
"""Settings of an objective, by its kind, where nothing else is said."""


@frozen
class Asked:
    """The command line of a sitting. None: not said."""

    out: Path
    resume: bool
    steps: int | None
    minutes: float | None
    seed: int | None
    changes: Sequence[str]
    """`NAME=VALUE` of other settings."""
    names: Mapping[str, str | None]
    """`model`, `device`, `dtype`, `compiled`: as in `Sitting`."""
    paths: Mapping[str, Path | None]
    """`data`, `valid`, `tokens`: likewise."""


@frozen
class Sitting:
    """How a sitting is begun: what may differ from one to the next, kept in the run's folder."""

    model: str = ""
    """The base of an adaptation: a name of `midfill model list`, or a folder."""
    data: str = ""
    """The file of examples."""
    valid: str = ""
    """The file of validation examples."""
    tokens: str = ""
    """The file with the corpus as tokens."""
    device: str = "auto"
    dtype: str = "auto"
    """Of matrix products and of frozen weights."""
    compiled: str = "auto"
    """yes, no, or auto: on CUDA."""
    loop: LoopSettings = field(factory=LoopSettings)


@frozen
class Order:
    """One sitting of one run."""

    kind: str
    """Of the objective."""
    folder: RunFolder
    sitting: Sitting
    settings: Any
    """The objective's."""


def begin(asked: Asked, kind: str, default_of: DefaultOf) -> Order:
    """A new run, or how the one in the folder goes on. Raises `BadInputError`, `RunError`."""
    folder = RunFolder(asked.out.expanduser().absolute())
    settings, sitting = default_of(kind), Sitting()
    if folder.begun:
        if not asked.resume:
            raise BadInputError(f"{asked.out} holds a run already: --resume goes on with it, or name a new folder")
        kept = _kept(folder, default_of)
        if kept.kind != kind:
            raise BadInputError(f"{asked.out} holds a run of another kind ({kept.kind}); name a new folder")
        settings, sitting = kept.settings, kept.sitting
    of_settings, of_loop = split(asked.changes, settings, sitting.loop)
    staged = hasattr(settings, "steps")  # what happens at a step may depend on how many there will be
    of_settings |= _said({"seed": asked.seed} | ({"steps": asked.steps} if staged else {}))
    settings = changed(settings, of_settings)
    of_loop |= _said({"schedule.steps": settings.steps if staged else asked.steps, "minutes": asked.minutes})
    loop = changed(sitting.loop, of_loop)
    if not loop.schedule.steps and not loop.minutes:
        raise BadInputError("say when to end: --steps N (the learning rate falls towards it), --minutes N, or both")
    said = _said({name: path.expanduser().absolute() for name, path in asked.paths.items() if path is not None})
    if "data" in said and "valid" not in said:
        data = Path(said["data"])
        said["valid"] = str(data.with_name(f"{data.stem}-valid{data.suffix}"))
    return Order(kind, folder, attrs.evolve(sitting, loop=loop, **_said(asked.names), **said), settings)


def reopen(run: Path, default_of: DefaultOf, device: str | None) -> Order:
    """The run in a folder, as its last sitting had it. Raises `RunError`."""
    kept = _kept(RunFolder(run.expanduser().absolute()), default_of)
    if not kept.sitting.data:
        raise RunError(f"{run} holds no checkpoint yet")
    return attrs.evolve(kept, sitting=attrs.evolve(kept.sitting, device=device or kept.sitting.device))


def _kept(folder: RunFolder, default_of: DefaultOf) -> Order:
    found = folder.settings()
    kind = str(found.get("objective"))
    try:
        return Order(kind, folder, restored(Sitting(), folder.sitting()), restored(default_of(kind), found))
    except (ValueError, TypeError, AttributeError) as error:
        raise RunError(f"the settings in {folder.path} can't be read ({error})") from None


def _said(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if value is not None}
