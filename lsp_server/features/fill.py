"""`midfill/fill`."""

from __future__ import annotations

from engine.client import EngineError
from lsp_server.failures import request_failed
from lsp_server.fill_request import fill_asked, fill_result
from lsp_server.protocol_types import FILL, FillParams, FillResult
from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handler."""

    @server.feature(FILL)
    async def fill(ls: MidfillServer, params: FillParams) -> FillResult:
        asked = fill_asked(ls.document(params.text_document.uri), params, ls.config)
        try:
            return fill_result(asked, *await ls.fills.run(asked))
        except EngineError as error:
            raise request_failed(error.failure) from None
