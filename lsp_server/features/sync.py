"""Documents that open, change and close. Their text is kept by `lsp_server.wire`; here others learn of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from lsp_server.completions.completions import Insertion
from lsp_server.documents import Document, key_of
from lsp_server.line_ends import split_lines, to_model
from lsp_server.positions import Point
from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: MidfillServer, params: types.DidOpenTextDocumentParams) -> None:
        document = ls.document(params.text_document.uri)
        ls.in_flight.document_changed(key_of(document.uri))
        ls.context.opened(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: MidfillServer, params: types.DidChangeTextDocumentParams) -> None:
        document = ls.document(params.text_document.uri)
        ls.in_flight.document_changed(key_of(document.uri))
        insertion = _insertion(document, params.content_changes)
        if insertion is not None:
            ls.context.edited(document, insertion.end)
        ls.completions.changed(document, insertion)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(ls: MidfillServer, params: types.DidSaveTextDocumentParams) -> None:
        if path := to_fs_path(params.text_document.uri):  # not every client watches files
            ls.context.files_changed([Path(path)])

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: MidfillServer, params: types.DidCloseTextDocumentParams) -> None:
        key = key_of(params.text_document.uri)
        ls.in_flight.document_changed(key)
        ls.completions.closed(key)
        ls.context.closed(params.text_document.uri)


def _insertion(document: Document, changes: Sequence[types.TextDocumentContentChangeEvent]) -> Insertion | None:
    """What was typed, accepted or deleted; None when the change is something else."""
    change = changes[0] if len(changes) == 1 else None
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return None
    start = document.point_at(change.range.start)
    *before, last = split_lines(change.text)
    line = min(start.line + len(before), len(document.lines) - 1)  # a lone \r and a new \n became one line end
    return Insertion(to_model(change.text), Point(line, len(last) if before else start.column + len(last)))
