"""`midfill eval`: fill known holes through the engine and say how good it was.

Owns: the command's arguments, its progress bar, its engine. The work is done in `engine.evaluation`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Final

import typer
from attrs import frozen
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

from engine.client import EngineClient, EngineError
from engine.commands.connection import connected
from engine.commands.errors import BadInputError, CommandError
from engine.evaluation import baselines, report
from engine.evaluation.cases import Case, CaseError, CaseSet, read_cases, sample
from engine.evaluation.fillers import BaselineFiller, EngineFiller, Filler
from engine.evaluation.gate_report import gate_chart
from engine.evaluation.packages import read_sources
from engine.evaluation.rebuild import held_out_cases
from engine.evaluation.records import About, Record, RecordError, Store, claim, read_all, seed_of
from engine.evaluation.runner import run_cases
from engine.evaluation.sandbox import isolation
from engine.protocol import Welcome
from engine.wheels import PackageError

_BASELINES: Final = (
    BaselineFiller("empty", baselines.empty),
    BaselineFiller("copy from the buffer", baselines.copy_from_buffer),
)
_KEPT: Final = "what is done is kept in {out}: run the same command to go on"


@frozen
class Order:
    """What the command line asks for."""

    sets: tuple[CaseSet, ...]
    paths: tuple[Path, ...]
    n: int
    seed: int
    model: str
    endpoint: str
    out: Path


def eval_command(
    sets: Annotated[
        list[CaseSet] | None,
        typer.Argument(help="Sets to run; none: only report what --out holds.", show_default=False),
    ] = None,
    path: Annotated[
        list[Path] | None,
        typer.Option(help="File or folder with cases; with --rebuild, wheels or site-packages. May be repeated."),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option(help="Make the held-out cases from their packages; what --path lacks is fetched with pip.")
    ] = False,
    n: Annotated[int, typer.Option("--n", min=1, help="Cases of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Chooses the cases: the same for every model.")] = 0,
    model: Annotated[str, typer.Option(help="As for `midfill engine --model`.")] = "auto",
    endpoint: Annotated[
        str, typer.Option(help="Use the engine that runs there, as it is; default: one of our own.", show_default=False)
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder of results. An interrupted run goes on from there.")] = Path(
        "midfill-eval"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with the figures.")] = False,
    page: Annotated[
        Path | None, typer.Option("--report", help="Page to write the tables into, between its marks.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--chart", help="SVG file to draw into: what is shown unasked, and how much is right."),
    ] = None,
) -> None:
    """Fill known holes through the engine: exact match, edit similarity, pass@1 (generated code runs in a sandbox)."""
    chosen = [CaseSet.REBUILT if rebuild and one is CaseSet.HELD_OUT else one for one in sets or ()]
    order = Order(tuple(chosen), tuple(path or ()), n, seed, model, endpoint, out)
    try:
        if order.sets:
            asyncio.run(_run(order))
        held_seed = seed_of(out)
        everyone = list(read_all(out))
        if page is not None:
            report.write_into(page, report.tables(everyone, held_seed))
        if picture is not None:
            picture.write_text(gate_chart(everyone), encoding="utf-8")
    except (CaseError, PackageError, RecordError, report.PageError) as error:
        raise BadInputError(str(error)) from None
    except EngineError as error:
        raise CommandError(f"{error}; {_KEPT.format(out=out)}") from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise CommandError(f"interrupted; {_KEPT.format(out=out)}") from None
    if as_json:
        typer.echo(json.dumps({"seed": held_seed, "rows": [row.as_json() for row in report.rows(everyone)]}))
    elif page is None and picture is None:
        typer.echo(report.tables(everyone, held_seed))


async def _run(order: Order) -> None:
    task = asyncio.current_task()
    assert task is not None
    with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread: whoever runs us has the signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)  # our engine must not outlive us
    cases = {case_set: sample(_cases(case_set, order), order.n, order.seed) for case_set in order.sets}
    claim(order.out, order.seed)
    box = isolation().told
    async with _engine(order) as (client, welcome):
        with _progress() as progress:
            model = welcome.model
            about = About(
                name=model.name,
                baseline=False,
                engine_version=welcome.engine_version,
                device=model.device,
                dtype=model.dtype,
                n_parameters=model.n_parameters,
                note=model.note,
                least_probability=model.least_probability,
                machine=f"{os.cpu_count()} CPU cores, {platform.machine()}",
                sandbox=box,
            )
            await _fill_all(cases, EngineFiller(client, welcome), Store(order.out, model.name), about, progress)
    with _progress() as progress:
        for baseline in _BASELINES:
            about = About(name=baseline.name, baseline=True, sandbox=box)
            await _fill_all(cases, baseline, Store(order.out, baseline.name), about, progress)


def _cases(case_set: CaseSet, order: Order) -> list[Case]:
    if case_set is CaseSet.REBUILT:
        return held_out_cases(read_sources(order.paths, order.out / "wheels"), order.seed)
    return read_cases(case_set, order.paths)


async def _fill_all(
    cases: dict[CaseSet, list[Case]], filler: Filler, store: Store, about: About, progress: Progress
) -> None:
    store.write_about(about)
    for case_set, of_set in cases.items():
        bar = progress.add_task(f"{about.name}: {case_set}", total=len(of_set))

        def on_done(record: Record, fresh: bool, bar: TaskID = bar) -> None:
            progress.advance(bar)

        await run_cases(case_set, of_set, filler, store, on_done)


@contextlib.asynccontextmanager
async def _engine(order: Order) -> AsyncIterator[tuple[EngineClient, Welcome]]:
    """The engine at `order.endpoint`, or one of our own: the user's may run another model, and has other work."""
    model = None if order.model == "auto" else order.model
    folder = "" if order.endpoint else tempfile.mkdtemp(prefix="mf")  # short: the path of a socket
    endpoint = order.endpoint or f"ipc://{folder}/engine.sock"
    try:
        async with connected("eval", endpoint, model, show=True) as client:
            try:
                yield client, await client.wait_ready()
            finally:
                if folder:
                    await client.shutdown()
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
    )
