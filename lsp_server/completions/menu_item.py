"""An item of the editor's completion menu. Owns: its form, so that every client's own filter keeps it.

Must not know: where the text comes from. Clients filter by the word before the cursor, so the item begins with it and
replaces it.
"""

from __future__ import annotations

import re
from typing import Final

from lsprotocol import types

from lsp_server.abilities import Abilities
from lsp_server.documents import Document
from lsp_server.line_ends import from_model
from lsp_server.positions import Point

_WORD: Final = re.compile(r"\w*$")
_MAX_LABEL: Final = 60
_MAX_WORD: Final = 200
_LAST: Final = "\uffff"
"""Sorts behind what other servers offer."""


def menu_item(document: Document, cursor: Point, text: str, client: Abilities) -> types.CompletionItem:
    """The one item that stands for `text` at the cursor."""
    before = document.lines[cursor.line][max(0, cursor.column - _MAX_WORD) : cursor.column]
    found = _WORD.search(before)
    word = found.group() if found is not None else ""
    whole = word + text
    place = document.range_of(Point(cursor.line, cursor.column - len(word)), cursor)
    return types.CompletionItem(
        label=_label(whole),
        kind=types.CompletionItemKind.Text,
        detail="midfill",
        documentation=_shown(whole, document.language, client),
        preselect=False,
        sort_text=_LAST,
        filter_text=whole.split("\n", 1)[0],
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs if client.keeps_indentation else None,
        text_edit=types.TextEdit(place, from_model(whole, document.line_end_at(cursor.line))),
    )


def _label(text: str) -> str:
    line, *more = text.strip().split("\n", 1)
    return line.rstrip() + " …" if more and len(line) < _MAX_LABEL else _cut(line)


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_LABEL else line[: _MAX_LABEL - 1] + "…"


def _shown(text: str, language: str, client: Abilities) -> str | types.MarkupContent:
    if not client.reads_markdown:
        return text
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return types.MarkupContent(types.MarkupKind.Markdown, f"{fence}{language}\n{text}\n{fence}")
