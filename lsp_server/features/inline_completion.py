"""`textDocument/inlineCompletion`."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types

from engine.client import EngineError
from lsp_server.completions.items import inline_items
from lsp_server.completions.wanted import Selected, wanted
from lsp_server.documents import Document
from lsp_server.failures import request_failed
from lsp_server.server import MidfillServer

_log = logging.getLogger(__name__)


def register(server: MidfillServer) -> None:
    """Add the handler."""

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())
    async def inline_completion(
        ls: MidfillServer, params: types.InlineCompletionParams
    ) -> types.InlineCompletionList | None:
        document = ls.document(params.text_document.uri)
        asked = wanted(
            document,
            document.point_at(params.position),
            now_s=asyncio.get_running_loop().time(),
            invoked=params.context.trigger_kind is types.InlineCompletionTriggerKind.Invoked,
            selected=_selected(document, params.context.selected_completion_info),
            token=params.work_done_token if ls.config.preview else None,
        )
        try:
            answer = await ls.completions.answer(asked)
        except EngineError as error:
            if asked.invoked:
                raise request_failed(error.failure) from None
            _log.warning("no completion: %s", error)  # an error would pop up in some editors, at each keystroke
            return None
        if not answer.texts:
            return None
        return types.InlineCompletionList(inline_items(document, asked.region, answer.texts))


def _selected(document: Document, info: types.SelectedCompletionInfo | None) -> Selected | None:
    if info is None:
        return None
    return Selected(document.point_at(info.range.start), document.point_at(info.range.end), info.text)
