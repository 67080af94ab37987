"""Documents that open, change and close. Their text is kept by `lsp_server.wire`; here others learn of it."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from lsp_server.completions.completions import Insertion
from lsp_server.documents import Document, key_of
from lsp_server.line_ends import split_lines, to_model
from lsp_server.positions import Point
from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: MidfillServer, params: types.DidOpenTextDocumentParams) -> None:
        ls.in_flight.document_changed(key_of(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: MidfillServer, params: types.DidChangeTextDocumentParams) -> None:
        document = ls.document(params.text_document.uri)
        ls.in_flight.document_changed(key_of(document.uri))
        ls.completions.changed(document, _insertion(document, params.content_changes))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: MidfillServer, params: types.DidCloseTextDocumentParams) -> None:
        key = key_of(params.text_document.uri)
        ls.in_flight.document_changed(key)
        ls.completions.closed(key)


def _insertion(document: Document, changes: Sequence[types.TextDocumentContentChangeEvent]) -> Insertion | None:
    """What was typed, accepted or deleted; None when the change is something else."""
    change = changes[0] if len(changes) == 1 else None
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return None
    start = document.point_at(change.range.start)
    *before, last = split_lines(change.text)
    end = Point(start.line + len(before), len(last) if before else start.column + len(last))
    return Insertion(to_model(change.text), end)
