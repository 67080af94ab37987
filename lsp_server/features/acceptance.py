"""`midfill/didAccept` and `midfill/didReject`."""

from __future__ import annotations

import logging
from typing import Final

from lsp_server.documents import UnknownDocumentError
from lsp_server.protocol_types import DID_ACCEPT, DID_REJECT, DidAcceptParams, DidRejectParams
from lsp_server.server import MidfillServer
from lsp_server.usage import Accepted

_log = logging.getLogger(__name__)
_KINDS: Final[dict[str, Accepted]] = {"all": "all", "line": "line", "word": "word"}


def register(server: MidfillServer) -> None:
    """Add the handlers. A notification has no answer, so one that fits nothing is logged."""

    @server.feature(DID_ACCEPT)
    def did_accept(ls: MidfillServer, params: DidAcceptParams) -> None:
        kind = _KINDS.get(params.accepted)
        try:
            document = ls.documents.get(params.text_document.uri)
        except UnknownDocumentError:
            kind = None
        if kind is None:
            _log.warning("a didAccept was ignored: its document is not open, or it is of no known kind")
        else:
            ls.completions.accepted(document, kind)

    @server.feature(DID_REJECT)
    def did_reject(ls: MidfillServer, params: DidRejectParams) -> None:
        try:
            ls.completions.rejected(ls.documents.get(params.text_document.uri))
        except UnknownDocumentError:
            _log.warning("a didReject was ignored: its document is not open")
