"""`midfill/status` and `midfill/restart`."""

from __future__ import annotations

from engine.client import EngineError
from lsp_server.failures import request_failed
from lsp_server.protocol_types import RESTART, STATUS, Status
from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(STATUS)
    def status(ls: MidfillServer, _: object) -> Status:
        return ls.status()

    @server.feature(RESTART)
    async def restart(ls: MidfillServer, _: object) -> Status:
        try:
            await ls.link.restart()
        except EngineError as error:
            raise request_failed(error.failure) from None
        return ls.status()
