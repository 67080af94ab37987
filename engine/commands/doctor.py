"""`midfill doctor`: what is here, what is wrong, what to do about it. Owns: the drawing of the findings."""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    no_fill: Annotated[bool, typer.Option("--no-fill", help="Leave the self-test fill out; starts no engine.")] = False,
    endpoint: Annotated[str, typer.Option(help="The engine's address; by default this user's own.")] = "",
) -> None:
    """Check the installation and say what to do about each finding. Exit code 1 when something is broken."""
    from engine.commands.checkup import State, findings
    from engine.commands.connection import address_of

    if endpoint:
        address_of(endpoint)  # a wrong one is no finding
    found = []
    if as_json:
        import json

        import attrs

        found = list(findings(endpoint, fill=not no_fill))
        ok = all(one.state is not State.BROKEN for one in found)
        typer.echo(json.dumps({"ok": ok, "findings": [attrs.asdict(one) for one in found]}, ensure_ascii=False))
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        console = Console(highlight=False)
        styles = {State.OK: "green", State.NOTE: "yellow", State.BROKEN: "bold red"}
        table = Table(box=None, pad_edge=False)
        for column in ("", "what", "found", "what to do"):
            table.add_column(column, overflow="fold")
        with console.status("looking around") as status:
            for one in findings(endpoint, fill=not no_fill, on_check=lambda what: status.update(f"checking {what}")):
                found.append(one)
                table.add_row(Text(one.state, styles[one.state]), one.what, Text(one.found), Text(one.advice))
        console.print(table)
    if any(one.state is State.BROKEN for one in found):
        raise typer.Exit(1)
