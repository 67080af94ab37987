"""`midfill engine`: run the engine in this process, or stop the one that runs. Owns: the command's options."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from engine.commands.errors import BadInputError, CommandError


def engine(
    model: Annotated[str | None, typer.Option(help="auto, a name of `midfill model list`, or a folder.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda, cuda:1, ...")] = None,
    dtype: Annotated[str | None, typer.Option(help="auto, float32, bfloat16 or float16.")] = None,
    threads: Annotated[int | None, typer.Option(help="CPU threads; 0: one per physical core.")] = None,
    idle_exit_s: Annotated[float | None, typer.Option(help="Leave after this long without a request.")] = None,
    cache_mb: Annotated[int | None, typer.Option(help="Most memory for the prefix cache.")] = None,
    context_tokens: Annotated[int | None, typer.Option(help="Longest prompt.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Denoising steps at most; 0: as the checkpoint asks.")] = None,
    policy: Annotated[
        str | None, typer.Option(help="Of a denoising adapter: auto, verified (as its base writes) or free.")
    ] = None,
    copies: Annotated[str | None, typer.Option(help="on, or off: make every text from nothing, to measure.")] = None,
    endpoint: Annotated[str, typer.Option(help="Address to serve at; by default this user's own socket.")] = "",
    stop: Annotated[bool, typer.Option("--stop", help="Stop the running engine.")] = False,
) -> None:
    """Run the engine in the foreground. Editors and `midfill fill` start one by themselves."""
    from engine.commands.connection import absolute_model, address_of
    from engine.config import ConfigError, load_config

    address = address_of(endpoint)
    if stop:
        typer.echo(asyncio.run(_stop(address)))
        return
    from engine.models.resolve import ModelNotFoundError, resolve

    overrides = {
        "model": absolute_model(model) if model is not None else None,
        "device": device,
        "dtype": dtype,
        "threads": threads,
        "idle_exit_s": idle_exit_s,
        "cache_mb": cache_mb,
        "context_tokens": context_tokens,
        "max_steps": max_steps,
        "policy": policy,
        "copies": copies,
    }
    try:
        config = load_config(overrides)
        resolve(config.model)  # before torch is imported: what is wrong is said at once
    except (ConfigError, ModelNotFoundError) as error:
        raise BadInputError(str(error)) from None
    from engine.instance import AddressError, AlreadyRunningError
    from engine.server import run

    try:
        raise typer.Exit(run(config, address))
    except AddressError as error:
        raise BadInputError(str(error)) from None
    except OSError as error:  # the socket's folder, or the log's
        told = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise CommandError(f"the engine can't use its folders ({told}); see: midfill doctor") from None
    except AlreadyRunningError as error:  # what was wanted is so: no failure
        typer.echo(f"{error} at {address}; to stop it: midfill engine --stop")


async def _stop(endpoint: str) -> str:
    from engine.commands.connection import running

    client = await running(endpoint)
    if client is None:
        return f"no engine runs at {endpoint}"
    try:
        await client.shutdown()
    finally:
        await client.close()
    return f"the engine at {endpoint} has stopped"
