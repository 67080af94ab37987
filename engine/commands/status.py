"""`midfill status`: what the running engine says of itself."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer

from engine.commands.errors import CommandError

if TYPE_CHECKING:
    from engine.protocol import StatusReport


def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    endpoint: Annotated[str, typer.Option(help="The engine's address; by default this user's own.")] = "",
) -> None:
    """Show what the running engine does. Starts none."""
    report = asyncio.run(ask_status(endpoint))
    if as_json:
        import attrs

        typer.echo(json.dumps(attrs.asdict(report) if report is not None else {"state": "stopped"}))
    elif report is None:
        typer.echo("no engine runs; one is started when an editor or `midfill fill` needs it")
    else:
        typer.echo("\n".join(_lines(report)))


async def ask_status(endpoint: str) -> StatusReport | None:
    """The engine's report, as if nobody asked for it; None when none runs. Raises `CommandError`."""
    import attrs

    from engine.client import EngineError
    from engine.commands.connection import running

    client = await running(endpoint)
    if client is None:
        return None
    try:
        report = await client.status()
        return attrs.evolve(report, n_clients=max(report.n_clients - 1, 0))  # the one that asks is no client
    except EngineError as error:
        raise CommandError(str(error)) from None
    finally:
        await client.close()


def _lines(report: StatusReport) -> list[str]:
    lines = [f"{report.state}{': ' + report.detail if report.detail else ''}, process {report.pid}"]
    if report.model is not None:
        model = report.model
        lines.append(f"model {model.name} ({model.family}, {model.device}, {model.dtype}): {model.note}")
    lines.append(f"{_count(report.n_clients, 'client')}, {report.n_running} running, {report.n_waiting} waiting")
    fills, failures = _count(report.n_fills, "fill"), _count(report.n_failures, "failure")
    lines.append(f"{fills}, {failures} in {_count(round(report.uptime_s / 60), 'minute')}")
    lines.append(f"{report.resident_bytes / 1e6:.0f} MB resident, {report.cache_bytes / 1e6:.0f} MB prefix cache")
    return lines


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
