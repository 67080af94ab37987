"""Runs of `midfill eval`. Owns: who fills the cases, its engine, its progress bar, when time is up.

The work is done in `engine.evaluation`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import evolve, frozen
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from engine.client import EngineClient
from engine.commands.connection import absolute_model, connected
from engine.commands.errors import BadInputError, CommandError
from engine.evaluation import baselines
from engine.evaluation.cases import Case, CaseSet, read_cases, sample
from engine.evaluation.fillers import BaselineFiller, EngineFiller, Filler
from engine.evaluation.packages import read_sources
from engine.evaluation.rebuild import Source, held_out_cases
from engine.evaluation.records import About, Record, Store, claim, training_of
from engine.evaluation.repair_cases import repair_cases
from engine.evaluation.runner import run_cases
from engine.evaluation.sandbox import isolation
from engine.evaluation.suffix_decides import suffix_decides
from engine.protocol import Model, Welcome

if TYPE_CHECKING:
    from engine.evaluation.revision import RevisionFiller

_FOR_HOLES: Final = (
    BaselineFiller("empty", baselines.empty),
    BaselineFiller("copy from the buffer", baselines.copy_from_buffer),
)
_FOR_DRAFTS: Final = (BaselineFiller("as it stands", baselines.as_it_stands),)
Cases = Mapping[CaseSet, list[Case]]


@frozen
class Order:
    """What the command line asks for."""

    sets: tuple[CaseSet, ...]
    paths: tuple[Path, ...]
    n: int
    seed: int
    model: str
    policy: str
    """Empty: `auto`, or that of the engine at `endpoint`."""
    copies: bool
    doubt: float
    endpoint: str
    out: Path
    minutes: float
    """0: no limit."""


async def run_order(order: Order) -> bool:
    """Fill all cases by the model, then by the baselines; returns whether all are done."""
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread: whoever runs us has the signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # our engine must not outlive us
    cases = _all_cases(order)
    claim(order.out, order.seed)
    holes: Cases = {case_set: some for case_set, some in cases.items() if not case_set.has_drafts}
    drafts: Cases = {case_set: some for case_set, some in cases.items() if case_set.has_drafts}
    run = _Run(order)
    done = True
    if holes:
        async with _engine(order) as (client, welcome):
            about = _about(order, welcome.model, welcome.engine_version)
            done &= await run.fill(holes, EngineFiller(client, welcome), about)
    if drafts:
        filler, model = _reviser(order)
        about = _about(order, model, importlib.metadata.version("midfill"))
        about = evolve(about, variant=f"doubt {order.doubt:g}")
        done &= await run.fill(drafts, filler, about)
    for of_sets, them in ((holes, _FOR_HOLES), (drafts, _FOR_DRAFTS)):
        for baseline in them if of_sets else ():
            await run.fill(of_sets, baseline, About(name=baseline.name, baseline=True))
    return done


class _Run:
    """Fills sets, one filler after the other, until time is up."""

    def __init__(self, order: Order) -> None:
        self._out = order.out
        self._end = time.monotonic() + 60 * order.minutes if order.minutes else None
        self._box = isolation().told

    async def fill(self, cases: Cases, filler: Filler, about: About) -> bool:
        store = Store(self._out, about.label)
        store.write_about(evolve(about, sandbox=self._box))
        done = True
        with _progress() as progress:
            for case_set, of_set in cases.items():
                bar = progress.add_task(f"{about.label}: {case_set}", total=len(of_set))

                def on_done(record: Record, fresh: bool, bar: TaskID = bar) -> None:
                    progress.advance(bar)

                is_time_up = (lambda: False) if about.baseline else self._is_time_up  # baselines cost nothing
                done &= await run_cases(case_set, of_set, filler, store, on_done, is_time_up)
        return done

    def _is_time_up(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end


def _all_cases(order: Order) -> Cases:
    sources: list[Source] = []
    if any(case_set.from_packages for case_set in order.sets):
        sources = read_sources(order.paths, order.out / "wheels")
    return {case_set: sample(_cases(case_set, order, sources), order.n, order.seed) for case_set in order.sets}


def _cases(case_set: CaseSet, order: Order, sources: list[Source]) -> list[Case]:
    if case_set is CaseSet.REBUILT:
        return held_out_cases(sources, order.seed)
    if case_set is CaseSet.SUFFIX:
        return held_out_cases(sources, order.seed, suffix_decides)
    if case_set is CaseSet.REPAIR:
        return repair_cases(sources, order.seed)
    return read_cases(case_set, order.paths)


def _about(order: Order, model: Model, version: str) -> About:
    return About(
        name=model.name,
        baseline=False,
        engine_version=version,
        device=model.device,
        dtype=model.dtype,
        n_parameters=model.n_parameters,
        note=model.note,
        least_probability=model.least_probability,
        machine=f"{os.cpu_count()} CPU cores, {platform.machine()}",
        variant=_joined(order.policy, "" if order.copies else "no copies"),
        training=None if order.endpoint else training_of(order.model),
    )


def _joined(*words: str) -> str:
    return ", ".join(word for word in words if word)


@contextlib.asynccontextmanager
async def _engine(order: Order) -> AsyncIterator[tuple[EngineClient, Welcome]]:
    """The engine at `order.endpoint`, or one of our own: the user's may run another model, and has other work."""
    model = None if order.model == "auto" else order.model
    folder = "" if order.endpoint else tempfile.mkdtemp(prefix="mf")  # short: the path of a socket
    endpoint = order.endpoint or f"ipc://{folder}/engine.sock"
    if order.endpoint and (order.policy or not order.copies):
        wrong = "--policy" if order.policy else "--no-copies"
        raise BadInputError(f"the engine at {order.endpoint} runs as it was started; leave out {wrong}")
    # both are always said: the report must not depend on the user's settings
    options = ("--policy", order.policy or "auto", "--copies", "on" if order.copies else "off")
    try:
        async with connected("eval", endpoint, model, show=True, options=options) as client:
            try:
                yield client, await client.wait_ready()
            finally:
                if folder:
                    await client.shutdown()
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _reviser(order: Order) -> tuple[RevisionFiller, Model]:
    """The model in this process. Raises `CommandError`."""
    from engine.config import ConfigError, load_config
    from engine.denoisers.denoiser import DenoiserError
    from engine.denoisers.loading import load_denoiser
    from engine.evaluation.revision import RevisionFiller
    from engine.models.resolve import ModelNotFoundError, resolve

    given = {"model": absolute_model(order.model), "policy": order.policy, "copies": "" if order.copies else "off"}
    try:
        config = load_config({name: value for name, value in given.items() if value})
        denoiser = load_denoiser(resolve(config.model), config, lambda stage, fraction: None)
        return RevisionFiller(denoiser, order.doubt), denoiser.model
    except (ConfigError, ModelNotFoundError) as error:
        raise BadInputError(str(error)) from None
    except DenoiserError as error:
        raise CommandError(str(error)) from None


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
    )
