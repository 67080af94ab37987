"""`midfill-lsp`: the process. Owns: its arguments, its life from standard input's first byte to the exit code.

It ends with the editor: at `exit`, at the end of standard input, and when the editor's process dies.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.metadata
import logging
import os
import signal
import sys
from collections.abc import Sequence

# A user's own folder named `engine` must never be run in place of ours. Python puts PYTHONPATH first; put it last.
_GIVEN = {os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry}  # noqa: PTH100
sys.path.sort(key=lambda entry: os.path.abspath(entry) in _GIVEN)  # noqa: PTH100

from pygls.io_ import run_async  # noqa: E402

from lsp_server.features import make_server  # noqa: E402
from lsp_server.logs import LEVELS, set_up_logs  # noqa: E402
from lsp_server.parent import parent_death  # noqa: E402
from lsp_server.server import MidfillServer  # noqa: E402
from lsp_server.stdio import Input, Output  # noqa: E402

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the console script."""
    parser = argparse.ArgumentParser(
        prog="midfill-lsp", description="Midfill's language server. Editors start it and talk to it over stdio."
    )
    parser.add_argument("--version", action="version", version=f"midfill-lsp {importlib.metadata.version('midfill')}")
    parser.add_argument("--log-level", choices=LEVELS, default="warning", help="how much to log; never document text")
    parser.add_argument("--stdio", action="store_true", help="the only transport; taken because editors pass it")
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)  # vscode-languageclient passes it
    options = parser.parse_args(arguments)
    set_up_logs(options.log_level)
    try:
        code = asyncio.run(_serve(make_server()))
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


async def _serve(server: MidfillServer) -> int:
    given = Input(sys.stdin.fileno())
    wire = server.protocol
    wire.set_writer(Output(sys.stdout.buffer, on_broken=given.end))
    watching: list[asyncio.Task[None]] = []

    async def leave_with(pid: int) -> None:
        await parent_death(pid)
        _log.warning("the editor's process %d has ended; leaving", pid)
        given.end()

    with contextlib.suppress(NotImplementedError):  # not on every system
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, given.end)
    server.on_parent = lambda pid: watching.append(asyncio.create_task(leave_with(pid)))
    try:
        await run_async(wire.ended, given, wire, logging.getLogger("pygls.io_"), server.report_server_error)
    except (asyncio.IncompleteReadError, ValueError) as error:
        _log.error("the editor's stream broke off: %s", type(error).__name__)
    finally:
        for task in watching:
            task.cancel()
        await server.link.close()
        await server.context.close()
        await server.usage.close()
    if wire.exit_code is not None:
        return wire.exit_code
    return 0 if wire.shutdown_asked else 1
