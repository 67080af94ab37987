"""`midfill bench`: times and memory, beside stock transformers. Owns: the command's options and its table."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import typer
from rich.console import Console
from rich.status import Status
from rich.table import Table

from engine.bench.report import Report
from engine.commands.errors import BadInputError, CommandError


def bench(
    model: Annotated[str, typer.Option(help="auto, a name of `midfill model list`, or a folder.")] = "auto",
    n: Annotated[int, typer.Option("-n", help="Holes to fill; 0: none.", min=0, max=500)] = 20,
    keys: Annotated[int, typer.Option(help="Keys to type into midfill-lsp; 0: none.", min=0)] = 1000,
    speed: Annotated[float, typer.Option(help="1: a key every 30 to 120 ms.", min=0.1, max=100)] = 1.0,
    editors: Annotated[int, typer.Option(help="That type at the same time.", min=1, max=64)] = 2,
    quick: Annotated[bool, typer.Option(help="Few holes, few keys: within a minute.")] = False,
    threads: Annotated[int, typer.Option(help="CPU threads; 0: one per physical core.", min=0, max=1024)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object for scripts.")] = False,
) -> None:
    """Fill the same holes through the engine and through stock generate(), in turn, and compare; then type real code.

    Run it on a quiet machine: two processes on the same cores more than double every number.
    """
    from engine.bench.run import run
    from engine.bench.typing import Pace
    from engine.client import EngineError
    from engine.commands.connection import absolute_model
    from engine.denoisers.denoiser import DenoiserError
    from engine.models.resolve import ModelNotFoundError

    console = Console(stderr=True)
    status = Status("starting", console=console)

    def tell(stage: str, fraction: float) -> None:
        status.update(f"{stage} ({fraction:.0%})")

    try:
        with status:
            pace = Pace(min(keys, 200) if quick else keys, editors, speed)
            report = asyncio.run(run(absolute_model(model), min(n, 3) if quick else n, pace, threads, tell))
    except ModelNotFoundError as error:
        raise BadInputError(str(error)) from None
    except (EngineError, DenoiserError, OSError) as error:
        raise CommandError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
    else:
        _show(report)


def _show(report: Report) -> None:
    console = Console()
    threads = f", {report.threads} threads" if report.threads else ""
    title = f"{report.model} ({report.family}), {report.device} {report.dtype}{threads}"
    table = Table("scenario", "median", "p95", "n", title=title, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, series in report.scenarios.items():
        table.add_row(name, f"{series.median:g} {series.unit}", f"{series.p95:g}", str(series.n))
    console.print(table)
    goals = Table("side by side", "median", "goal", "", title_justify="left")
    for name, ratio in report.ratios.items():
        goal = f"{'at most' if ratio.at_most else 'at least'} {ratio.goal:g}" if ratio.goal else ""
        goals.add_row(name, f"{ratio.median:g}", goal, {None: "", True: "met", False: "missed"}[ratio.met])
    console.print(goals)
    if report.same_text:
        console.print(f"Same text as stock generate(): {report.same_text} holes.")
    if report.typing:
        told = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in report.typing.items())
        console.print(f"Typing: {told}.")
