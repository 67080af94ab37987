"""Answers and what becomes of them, one line a case: `│` is the cursor, `⏎` a line end, `→` a tab."""

from __future__ import annotations

from lsp_server.shaping import Place


def text_of(notation: str) -> str:
    """The text that a notation stands for."""
    return notation.replace("⏎", "\n").replace("→", "\t")


def place_of(notation: str, language: str = "python") -> Place:
    """The place that a notation stands for."""
    before, _, after = text_of(notation).partition("│")
    return Place(before, after, language)
