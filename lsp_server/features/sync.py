"""Documents that open, change and close. Their text is kept by `lsp_server.wire`; here others learn of it."""

from __future__ import annotations

from lsprotocol import types

from lsp_server.documents import key_of
from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: MidfillServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.in_flight.document_changed(key_of(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: MidfillServer, params: types.DidChangeTextDocumentParams) -> None:
        ls.in_flight.document_changed(key_of(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: MidfillServer, params: types.DidCloseTextDocumentParams) -> None:
        ls.in_flight.document_changed(key_of(params.text_document.uri))
