"""Whether a text brings syntax errors into its place. Owns: what counts as an error that the text itself brings.

Must not know: the model, what is done about it. While somebody types, the document is broken at the cursor nearly
always, and a suggestion may end before its statement does. So a text is let off if the document has no more errors with
it than with nothing or with a mere name in its place, be it as it is or finished in some simple way; and when it takes
too long to tell.
"""

from __future__ import annotations

import time
from typing import Final

from lsp_server.shaping.endings import endings
from lsp_server.shaping.grammars import GRAMMARS
from lsp_server.shaping.place import Place
from lsp_server.shaping.source_tree import Errors, SourceTree

_BEFORE: Final = 48 * 1024
_AFTER: Final = 16 * 1024
_HOPELESS: Final = 0.3
"""Share of a document that makes no sense, as it stands, from which on nothing can be told."""
_LEAST_HOPELESS: Final = 400
"""Bytes that make no sense in a document that has only just begun."""
_NAME: Final = " x "
_MOST_S: Final = 0.012
"""Of the processor's time, for one check."""
_MOST_TREES: Final = 4


class SyntaxCheck:
    """Checks texts at places; keeps the last trees, one a language, so that a check costs what has changed."""

    def __init__(self) -> None:
        self._trees: dict[str, SourceTree] = {}

    def prepare(self, place: Place) -> None:
        """Read the document ahead, so that the next check there is quick."""
        if place.language in GRAMMARS:
            self._errors(place, "")

    def adds_errors(self, text: str, place: Place) -> bool:
        """Whether `text` brings errors of its own. False where no grammar is known."""
        if place.language not in GRAMMARS or place.open_string or place.in_comment:
            return False
        without = self._errors(place, "")
        if without.size > max(_LEAST_HOPELESS, _HOPELESS * (len(place.before) + len(place.after))):
            return False
        end = time.thread_time() + _MOST_S
        fewest = min(without.count, self._errors(place, _NAME).count) if without.count else 0
        for ending in endings(text, place):
            if self._errors(place, text + ending).count <= fewest or time.thread_time() > end:
                return False
        return True

    def _errors(self, place: Place, text: str) -> Errors:
        grammar = GRAMMARS[place.language]
        tree = self._trees.pop(grammar, None) or SourceTree(grammar)
        self._trees[grammar] = tree
        if len(self._trees) > _MOST_TREES:
            del self._trees[next(iter(self._trees))]
        source = place.before[-_BEFORE:] + text + place.after[:_AFTER]
        return tree.errors(source.encode("utf-8", "replace"))
