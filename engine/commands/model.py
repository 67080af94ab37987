"""`midfill model`: which models there are here, fetching one, removing one. Owns: their options and the table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from engine.commands.errors import BadInputError, CommandError

app = typer.Typer(help="Models on this machine: list, pull, rm.", rich_markup_mode=None)


@app.command("list")
def list_models(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False) -> None:
    """Show the models that are known and those that are here."""
    rows = _rows()
    if as_json:
        import json

        typer.echo(json.dumps(rows))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in ("name", "state", "size", "licence", "what it is good for"):
        table.add_column(column, overflow="fold")
    for row in rows:
        name = f"{row['name']}{' *' if row['auto'] else ''}"
        table.add_row(name, str(row["state"]), f"{row['bytes'] / 1e6:.0f} MB", str(row["licence"]), str(row["note"]))
    console = Console(highlight=False)
    console.print(table)
    console.print("* what `auto` means here now. A checkpoint folder of your own: --model /path/to/it", style="dim")


@app.command()
def pull(
    name: Annotated[str, typer.Argument(help="A name of `midfill model list`.")],
    source_file: Annotated[
        Path | None, typer.Option("--from", help="Take the pinned file from here, for machines without a line.")
    ] = None,
) -> None:
    """Download a model, check it, and convert it, once. An interrupted pull goes on where it was."""
    from rich.console import Console

    from engine.commands.pull_view import PullView
    from engine.models.pull import PullError
    from engine.models.pull import pull as pull_model
    from engine.models.source import FileSource

    _need_known(name)
    sources = [FileSource(source_file)] if source_file is not None else None
    console = Console(stderr=True, highlight=False)
    try:
        with PullView(console) as drawn:
            folder = pull_model(name, sources=sources, on_progress=drawn.show, on_note=drawn.note)
    except PullError as error:
        raise CommandError(str(error)) from None
    typer.echo(f"{name} is in {folder}")


@app.command()
def rm(name: Annotated[str, typer.Argument(help="A pulled model.")]) -> None:
    """Remove a pulled model, and what an interrupted pull of it left."""
    from engine.models.pull import PullError, remove

    _need_known(name)
    try:
        n_bytes = remove(name)
    except PullError as error:
        raise CommandError(str(error)) from None
    typer.echo(f"removed {name}, {n_bytes / 1e6:.0f} MB")


def _need_known(name: str) -> None:
    from engine.models.catalog import CATALOG

    if name not in CATALOG:
        raise BadInputError(f"no model {name!r}; known are {', '.join(CATALOG)}")
    if not CATALOG[name].sha256:
        raise BadInputError(f"{name} is part of midfill; it is neither pulled nor removed")


def _rows() -> list[dict[str, Any]]:
    from engine.models.catalog import CATALOG
    from engine.models.child import size_under
    from engine.models.installed import damage, folder_of
    from engine.models.pull import is_interrupted
    from engine.models.resolve import ModelNotFoundError, resolve

    try:
        auto = resolve("auto").name
    except ModelNotFoundError:
        auto = ""
    rows: list[dict[str, Any]] = []
    for known in CATALOG.values():
        folder = known.folder or folder_of(known.name)
        if known.folder is not None:
            state = "bundled"
        elif not folder.is_dir():
            state = "interrupted" if is_interrupted(known.name) else "not here"
        else:
            state = "damaged" if damage(folder) else "pulled"
        here = folder.is_dir()
        rows.append(
            {
                "name": known.name,
                "title": known.title,
                "state": state,
                "auto": known.name == auto,
                "path": str(folder) if here else "",
                "bytes": size_under(folder) if here else known.n_bytes,
                "licence": known.licence,
                "note": known.note,
            }
        )
    return rows
