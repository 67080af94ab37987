"""What to ask the engine for around a region. Owns: the fields that every fill has. Must not know: who asks."""

from __future__ import annotations

from typing import Any

from engine.protocol import Fill, Snippet
from lsp_server.documents import Document
from lsp_server.windows import Window


def fill_around(document: Document, window: Window, snippets: tuple[Snippet, ...] = (), **more: Any) -> Fill:
    """A fill between the window's sides; `more` are further fields of `Fill`."""
    return Fill(
        request_id="",
        prefix=window.prefix,
        suffix=window.suffix,
        uri=document.uri,
        version=document.version,
        language=document.language,
        path=document.path,
        snippets=snippets,
        **more,
    )
