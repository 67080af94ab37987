"""`midfill stats`: what became of suggestions, as counted on this machine. Owns: the drawing of the figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from engine.commands.usage_figures import Figures, Period

_EMPTY = "Nothing is counted yet. Editors that use midfill-lsp count here what they show: numbers, never any text."
_ACCEPTED = {
    "all": "accepted whole",
    "line": "  a line of it",
    "word": "  a word of it",
    "typed": "  typed through",
}
_SOURCES = {
    "engine": "  by the engine",
    "session": "  while typing through",
    "prefetch": "  fetched in advance",
}


def stats(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Delete all statistics.")] = False,
) -> None:
    """Show what was suggested, accepted and dismissed, how quickly, and why nothing was shown.

    Counted on this machine only: no text, no file names; nothing is sent anywhere.
    """
    from engine import usage
    from engine.commands.errors import CommandError

    path = usage.usage_path()
    if reset:
        usage.reset(path)
        typer.echo("all statistics are deleted")
        return
    try:
        counts = usage.read(path)
    except usage.UsageError as error:
        raise CommandError(f"the statistics can't be read: {error}; --reset deletes them") from None

    import datetime

    from engine.commands.usage_figures import periods

    found = periods(counts, datetime.date.today())
    if as_json:
        import json

        import attrs

        first = min((key.day for key in counts), default=None)
        told = {name: attrs.asdict(period) for name, period in found.items()}
        typer.echo(json.dumps({"since": first, "periods": told}, ensure_ascii=False))
    elif not counts:
        typer.echo(_EMPTY)
    else:
        _show(found)


def _show(found: dict[str, Period]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_totals({name: period.total for name, period in found.items()}))
    for what, group in (
        ("language", {name: period.languages for name, period in found.items()}),
        ("model", {name: period.models for name, period in found.items()}),
    ):
        console.print()
        console.print(_groups(what, group))


def _totals(totals: dict[str, Figures]) -> Table:
    table = _table("", *totals)

    def row(name: str, told: Callable[[Figures], str]) -> None:
        table.add_row(name, *(told(figures) for figures in totals.values()))

    every = totals["all"]
    row("asked for", lambda f: str(f.asked))
    row("shown", lambda f: _share(f.shown, f.asked))
    for kind, name in _ACCEPTED.items():
        row(name, lambda f, kind=kind: str(f.accepted[kind]))  # type: ignore[misc]
    row("dismissed", lambda f: str(f.dismissed))
    row("accepted characters", lambda f: str(f.accepted_characters))
    if every.latency_ms:
        table.add_row("p50 / p90 / p95, about, ms")
    for source in every.latency_ms:
        row(_SOURCES.get(source, f"  {source}"), lambda f, source=source: _times(f, source))  # type: ignore[misc]
    if every.nothing:
        row("nothing shown", lambda f: _share(f.asked - f.shown, f.asked))
    for reason, _ in every.nothing.most_common():
        row(f"  {reason.replace('_', ' ')}", lambda f, reason=reason: str(f.nothing[reason]))  # type: ignore[misc]
    return table


def _groups(what: str, groups: dict[str, dict[str, Figures]]) -> Table:
    """One row a name."""
    table = _table(f"{what}: shown / accepted whole", *groups)
    for name in groups["all"]:
        found = [group.get(name) for group in groups.values()]
        if not name or not any(f.shown or f.accepted for f in found if f):
            continue  # it was asked for, or begun before a model was known, and nothing came of it
        table.add_row(name, *(f"{f.shown} / {f.accepted['all']}" if f else "-" for f in found))
    return table


def _table(first: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _share(n: int, of: int) -> str:
    return f"{n} ({n / of:.0%})" if of else str(n)


def _times(figures: Figures, source: str) -> str:
    times = figures.latency_ms.get(source)
    if times is None:
        return "-"
    return " / ".join("<1" if one < 1 else f"{float(f'{one:.1e}'):.0f}" for one in (times.p50, times.p90, times.p95))
