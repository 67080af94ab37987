"""The way from a command to the engine. Owns: starting it on demand, and saying what it does while it loads."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from engine.client import EngineClient, EngineError, EngineUnreachableError, connect_or_start
from engine.commands.errors import BadInputError, CommandError
from engine.config import ConfigError, load_config
from engine.models.resolve import ModelNotFoundError, resolve
from engine.paths import UnsafeFolderError, default_endpoint
from engine.protocol import ErrorCode, Loading

_LONGEST_PATH: Final = 100
"""Of a socket; systems take 103 or 107 bytes."""


@contextlib.asynccontextmanager
async def connected(
    name: str, endpoint: str, model: str | None, *, show: bool, options: Sequence[str] = ()
) -> AsyncIterator[EngineClient]:
    """A client of a ready engine; one is started when none runs, with `options` of `midfill engine`.

    Raises `CommandError`, `EngineError`.

    With `model`, an engine that runs another one is an error: it may be serving somebody's editor.
    """
    address = address_of(endpoint)
    arguments: tuple[str, ...] = ()
    wanted = ""
    if model is not None:
        model = absolute_model(model)
        wanted, arguments = _name_of(model), ("--model", model)
    else:
        _check_settings()
    console = Console(stderr=True, highlight=False)
    with console.status("connecting to the engine") if show else contextlib.nullcontext() as status:

        def on_loading(loading: Loading) -> None:
            if status is not None:
                status.update(f"loading: {loading.stage} ({loading.fraction:.0%})")

        client = await connect_or_start(
            f"midfill-{name}", endpoint=address, arguments=(*arguments, *options), on_loading=on_loading
        )
        try:
            welcome = await client.wait_ready()
        except BaseException as error:
            await client.close()
            if isinstance(error, EngineError) and error.failure.code is ErrorCode.MODEL_UNAVAILABLE:
                raise CommandError(f"{error}; once that is put right: midfill engine --stop, then again") from None
            raise
    try:
        if wanted and welcome.model.name != wanted:
            raise CommandError(
                f"the running engine has the model {welcome.model.name}, not {wanted}; "
                "stop it with: midfill engine --stop, or give another --endpoint"
            )
        yield client
    finally:
        await client.close()


def address_of(endpoint: str) -> str:
    """The engine's address: what the user gave, else this user's own. Raises `CommandError`."""
    if not endpoint:
        try:
            return default_endpoint()
        except UnsafeFolderError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            told = f"can't make the runtime folder {error.filename}: {error.strerror}"
            raise CommandError(f"{told}; set MIDFILL_RUNTIME_DIR to another folder") from None
    if not endpoint.startswith("ipc:///") or "\0" in endpoint:
        raise BadInputError(f"--endpoint must be ipc:///absolute/path, not {endpoint}")
    if len(os.fsencode(endpoint.removeprefix("ipc://"))) > _LONGEST_PATH:
        raise BadInputError(f"--endpoint {endpoint} is too long a path for a socket; at most {_LONGEST_PATH} bytes fit")
    return endpoint


async def running(endpoint: str = "") -> EngineClient | None:
    """A client of the engine that runs at the address; None when none does. Starts nothing. Raises `CommandError`."""
    address = address_of(endpoint)
    if _is_unbound(address):
        return None  # ZeroMQ would wait for somebody to bind there
    try:
        return await EngineClient.connect(address, "midfill-status")
    except EngineUnreachableError:
        return None


def _is_unbound(address: str) -> bool:
    return address.startswith("ipc://") and not Path(address.removeprefix("ipc://")).exists()


def absolute_model(model: str) -> str:
    """A relative path as an absolute one: the engine runs in another folder. Names stay."""
    path = Path(model).expanduser()
    return str(path.resolve()) if path.is_dir() and ("/" in model or not _is_name(model)) else model


def _is_name(model: str) -> bool:
    from engine.models.catalog import CATALOG

    return model == "auto" or model in CATALOG


def _name_of(model: str) -> str:
    try:
        return resolve(model).name
    except ModelNotFoundError as error:
        raise BadInputError(str(error)) from None


def _check_settings() -> None:
    """An engine that can't start for a wrong setting says so in its log; here it is said at once."""
    try:
        load_config()
    except ConfigError as error:
        raise BadInputError(str(error)) from None
