"""What the user sees of a suggestion, and what becomes of it. Owns: counting what is accepted and what is not.

Must not know: where suggestions come from. Acceptance is told by the text that comes in, since most clients say
nothing: one change that brings several characters of what is shown is an acceptance, a single character is typing.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsp_server.completions.cursor_text import CLOSERS
from lsp_server.usage import Accepted, Usage


class OnScreen:
    """The suggestion on the screen, in one document."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self._text = self._language = self._model = ""
        self._others: tuple[str, ...] = ()
        """Alternatives to the text, behind a key of their own."""
        self._n_typed = 0
        self._counted = False

    def show(self, texts: Sequence[str], language: str, model: str) -> None:
        """The first is shown now, or nothing. What was shown and is not part of it has been passed over."""
        text, *others = texts or [""]
        if not (self._text and self._goes_on_as(text)):
            self.pass_over()
            self._n_typed = 0
        self._text, self._others, self._language, self._model = text, tuple(others), language, model
        self._counted = False

    def _goes_on_as(self, text: str) -> bool:
        """It is longer when a key was taken back, and shorter when the editor has closed a pair."""
        shorter = bool(text) and self._text.startswith(text) and set(self._text[len(text) :]) <= CLOSERS
        return shorter or text.endswith(self._text)

    def insert(self, text: str) -> None:
        """Text came in at the cursor."""
        if not self._text or not text:
            return
        whole = next((one for one in (self._text, *self._others) if len(one) > 1 and text.endswith(one)), None)
        if whole is not None:  # perhaps behind the selected menu item, or the word that it replaces
            self._count("all", len(whole))
            self._text = ""
            return
        if len(text) > 1 and text[0] == self._text[0] and set(text[1:]) <= CLOSERS and not self._text.startswith(text):
            text = text[0]  # an editor closes pairs by itself
        if not self._text.startswith(text):
            self.pass_over()
            return
        rest = self._text[len(text) :]
        if len(text) == 1 or (text.isspace() and rest):  # a key, or a line end with the indentation that follows it
            self._n_typed += len(text)
            if not rest:
                self._usage.accepted(self._language, self._model, "typed", self._n_typed)
        else:
            self._count("line" if rest[0] == "\n" or text[-1] == "\n" else "word", len(text))
        self._text = rest

    def accept(self, kind: Accepted) -> None:
        """The client tells. What has come in already was counted then."""
        if self._text and not self._counted:
            self._count(kind, len(self._text) if kind == "all" else 0)
            if kind == "all":
                self._text = ""

    def pass_over(self) -> None:
        """It is gone, or refused."""
        if self._text:
            self._usage.dismissed(self._language, self._model)
        self._text = ""

    def _count(self, kind: Accepted, n_chars: int) -> None:
        self._counted = True
        self._usage.accepted(self._language, self._model, kind, n_chars)
