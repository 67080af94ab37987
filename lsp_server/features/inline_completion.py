"""`textDocument/inlineCompletion`."""

from __future__ import annotations

import logging

from lsprotocol import types

from engine.client import EngineError
from lsp_server.completion import completion_fill, completion_items
from lsp_server.failures import request_failed
from lsp_server.fills import Asked, Region
from lsp_server.in_flight import Kind
from lsp_server.server import MidfillServer

_log = logging.getLogger(__name__)


def register(server: MidfillServer) -> None:
    """Add the handler."""

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(
        ls: MidfillServer, params: types.InlineCompletionParams
    ) -> types.InlineCompletionList | None:
        document = ls.document(params.text_document.uri)
        invoked = params.context.trigger_kind is types.InlineCompletionTriggerKind.Invoked
        if not (invoked or ls.config.enabled):
            return None
        cursor = document.point_at(params.position)
        fill = completion_fill(document, cursor, ls.config, invoked=invoked)
        token = params.work_done_token if ls.config.preview else None
        try:
            result, _ = await ls.fills.run(Asked(document, Region(cursor, cursor), fill, Kind.COMPLETION, token))
        except EngineError as error:
            if invoked:
                raise request_failed(error.failure) from None
            _log.warning("no completion: %s", error)  # an error would pop up in some editors, at each keystroke
            return None
        return types.InlineCompletionList(completion_items(document, cursor, result))
