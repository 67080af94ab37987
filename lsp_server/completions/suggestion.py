"""What was found for a cursor, and what is left of it while somebody types. Must not know: LSP, the engine."""

from __future__ import annotations

from attrs import frozen

from lsp_server.completions.cursor_text import CursorText
from lsp_server.outcomes import Nothing
from lsp_server.shaping import Place, shaped_text


@frozen
class Suggestion:
    """Texts for one cursor, best first, as they are shown."""

    cursor: CursorText
    texts: tuple[str, ...]
    model: str
    n_steps: int
    nothing: Nothing | None = None
    """Why there are no texts."""

    def rest(self, now: CursorText, language: str) -> tuple[str, ...]:
        """What is left of each text that agrees with what has been typed since; without those that are typed out."""
        left: dict[str, None] = {}
        for text in self.texts:
            n = self.cursor.n_typed(text, now)
            if n is not None and n < len(text):
                rest = text[n:]
                if now.after != self.cursor.after:  # an editor has added closers that the text brings along
                    rest = shaped_text(rest, Place(now.before, now.after, language))
                if rest.strip():
                    left[rest] = None
        return tuple(left)

    def is_typed_out(self, now: CursorText) -> bool:
        """Whether one of the texts stands in the document now, whole."""
        return any(self.cursor.n_typed(text, now) == len(text) for text in self.texts)
