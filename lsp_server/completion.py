"""Inline completion. Owns: what to ask the engine for at a cursor, and which items to show.

Must not know: pygls, the engine's client, how requests are run.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.uris import to_fs_path

from engine.protocol import Fill, Priority, Result
from lsp_server.config import ServerConfig
from lsp_server.documents import Document
from lsp_server.line_ends import from_model
from lsp_server.positions import Point
from lsp_server.windows import cut_window


def completion_fill(document: Document, cursor: Point, config: ServerConfig, *, invoked: bool) -> Fill:
    """What to ask for. With text behind the cursor one line is wanted; else the block may go on."""
    window = cut_window(document, cursor, cursor)
    return Fill(
        request_id="",
        prefix=window.prefix,
        suffix=window.suffix,
        uri=document.uri,
        version=document.version,
        session=document.uri,
        language=document.language,
        path=to_fs_path(document.uri) or "",
        max_tokens=config.max_tokens,
        max_lines=1 if document.rest_of_line(cursor).strip() else 0,
        n_alternatives=config.alternatives if invoked else 1,
        deadline_ms=config.deadline_ms,
        priority=Priority.COMPLETION,
    )


def completion_items(document: Document, cursor: Point, result: Result) -> list[types.InlineCompletionItem]:
    """Items of the candidates that say something, best first.

    Each has an explicit single-line range, which Neovim 0.12.0 can't do without, and a filter text: the text that the
    range covers, of which there is none at a cursor, and the text to insert.
    """
    place = document.range_of(cursor, cursor)
    end = document.line_end_at(cursor.line)
    texts = dict.fromkeys(from_model(candidate.text, end) for candidate in result.candidates)
    return [
        types.InlineCompletionItem(insert_text=text, filter_text=text, range=place) for text in texts if text.strip()
    ]
