"""One document's completion across keystrokes: what is shown, what is in the making, how its user types.

Owns: which of it answers a request. Must not know: LSP, the engine.
"""

from __future__ import annotations

from lsp_server.completions.computation import Computation
from lsp_server.completions.cursor_text import CursorText
from lsp_server.completions.on_screen import OnScreen
from lsp_server.completions.rhythm import Rhythm
from lsp_server.completions.suggestion import Suggestion
from lsp_server.completions.wanted import Wanted
from lsp_server.outcomes import Nothing
from lsp_server.usage import Usage


class Session:
    """The state between two keystrokes."""

    def __init__(self, usage: Usage) -> None:
        self.screen = OnScreen(usage)
        self.rhythm = Rhythm()
        self.suggestion: Suggestion | None = None
        """The newest one that says something. Kept when a key contradicts it: the key may be taken back."""
        self.computation: Computation | None = None
        self.gate = True
        """The last request wanted only what the model is sure of, and so does what is begun before the next."""
        self.at: CursorText | None = None
        """Where the last request was answered."""
        self._silent: tuple[CursorText, Nothing | None] | None = None
        """Where there is nothing to show, and why."""
        self.wants_frames = False
        """The client watches the region converge: also what is begun before it asks needs frames."""

    def ready(self, wanted: Wanted) -> tuple[str, ...]:
        """What is left of the newest suggestion."""
        suggestion = self.suggestion
        return () if suggestion is None else suggestion.rest(wanted.cursor, wanted.document.language)

    def making(self, wanted: Wanted) -> Computation | None:
        """A computation under way that will answer."""
        computation = self.computation
        if computation is None or computation.done or computation.cursor != wanted.cursor:
            return None
        return computation if computation.invoked or not wanted.invoked else None

    def begin(self, computation: Computation) -> str:
        """Put a new one in the place of the old. Returns a guess at its text: where the old one was going."""
        old, self.computation = self.computation, computation
        if old is None:
            return ""
        old.cancel()
        n = old.cursor.n_typed(old.tentative, computation.cursor)
        return old.tentative[n:] if n is not None else ""

    def moved_to(self, cursor: CursorText | None) -> None:
        """The text has changed: stop what is made for another text, unless a request sees to it."""
        computation = self.computation
        if computation is not None and not computation.has_waiters and computation.cursor != cursor:
            computation.cancel()

    def found(self, suggestion: Suggestion) -> None:
        """The engine has answered."""
        if suggestion.texts:
            self.suggestion = suggestion
        elif suggestion.nothing is not Nothing.DEADLINE:
            self._silent = suggestion.cursor, suggestion.nothing

    def why_nothing(self, cursor: CursorText) -> Nothing | None:
        """Why nothing is said here, where that is known already: the engine would say the same again."""
        return self._silent[1] if self._silent is not None and self._silent[0] == cursor else None

    def reject(self) -> None:
        """The user wants none of it, here."""
        self.forget()
        if self.at is not None:
            self._silent = self.at, Nothing.REJECTED

    def forget(self) -> None:
        """Stop, and start from nothing."""
        self.suggestion = self._silent = None
        self.screen.pass_over()
        if self.computation is not None:
            self.computation.cancel()
