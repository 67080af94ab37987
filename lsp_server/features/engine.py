"""`midfill/status` and `midfill/restart`."""

from __future__ import annotations

from typing import Any

import attrs

from engine.client import EngineError
from lsp_server.failures import request_failed
from lsp_server.protocol_types import RESTART, STATUS, Recent, Status
from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(STATUS)
    def status(ls: MidfillServer, _: object) -> Status:
        recent = (Recent(**attrs.asdict(one, filter=_is_told)) for one in ls.usage.recent())
        return attrs.evolve(ls.status(), recent=tuple(recent))

    @server.feature(RESTART)
    async def restart(ls: MidfillServer, _: object) -> Status:
        try:
            await ls.link.restart()
        except EngineError as error:
            raise request_failed(error.failure) from None
        return ls.status()


def _is_told(attribute: attrs.Attribute[Any], _: object) -> bool:
    return attribute.name in {field.name for field in attrs.fields(Recent)}
