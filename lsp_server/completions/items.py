"""Inline completion items. Owns: the form in which texts go to a client. Must not know: where they come from."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from lsp_server.documents import Document
from lsp_server.fills import Region
from lsp_server.line_ends import from_model


def inline_items(document: Document, region: Region, texts: Iterable[str]) -> list[types.InlineCompletionItem]:
    """Items, best first.

    Each has an explicit single-line range, which Neovim 0.12.0 can't do without, and a filter text that every client's
    own filter lets pass: it begins with the text that the range covers.
    """
    place = document.range_of(region.start, region.end)
    end = document.line_end_at(region.start.line)
    made = [from_model(text, end) for text in texts]
    return [types.InlineCompletionItem(insert_text=text, filter_text=text, range=place) for text in made]
