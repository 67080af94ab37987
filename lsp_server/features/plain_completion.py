"""`textDocument/completion`: the same completion in the editor's menu, for clients without inline completion."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types

from engine.client import EngineError
from lsp_server.completions.menu_item import menu_item
from lsp_server.completions.wanted import wanted
from lsp_server.server import MidfillServer

_log = logging.getLogger(__name__)


def register(server: MidfillServer) -> None:
    """Add the handler."""

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())
    async def completion(ls: MidfillServer, params: types.CompletionParams) -> types.CompletionList | None:
        if not ls.config.plain_completion:
            return None
        document = ls.document(params.text_document.uri)
        # Never as invoked: editors say so at every letter. Without the gate: an item in a menu is in nobody's way.
        at, now_s = document.point_at(params.position), asyncio.get_running_loop().time()
        asked = wanted(document, at, now_s=now_s, gate=False)
        try:
            answer = await ls.completions.answer(asked)
        except EngineError as error:
            _log.warning("no completion: %s", error)
            return None
        item = [menu_item(document, asked.region.end, text, ls.client) for text in answer.texts[:1]]
        return types.CompletionList(is_incomplete=True, items=item)
