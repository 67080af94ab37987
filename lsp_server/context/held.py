"""The pieces that one document's fills quote. Owns: when they are looked for anew, and when they change.

Must not know: where they come from. Runs in the event loop. Snippets stand first in the prompt, so a change of them
costs the engine the whole prompt: about two seconds on a laptop. So they stick:

- They change at once when the prompt is cold anyway: at the document's first fill, and after the cursor has jumped,
  because then the text behind it, which stands second in the prompt, is another one. So too when somebody returns to
  the document after working in another, whose text may have changed.
- While somebody types on in one place they stay, however much is typed. A name that comes up and is defined somewhere
  is looked for in the background, at most every `LOOK_S`; its definition comes in only after the typing has paused for
  `PAUSE_S`, and `CALM_S` after the last change at the earliest. Nothing but a new definition is worth that much.
- What stays keeps its order and stands before what is new, so that even then the beginning is reused.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import attrs

from engine.protocol import Snippet
from lsp_server.context.piece import Kind, Piece, pack, snippets_of

JUMP_LINES: Final = 8
"""Farther than that, nobody gets by typing."""
REGION_LINES: Final = 16
"""A jump that stays this near to where was looked last needs nothing new."""
LOOK_S: Final = 2.0
PAUSE_S: Final = 1.0
CALM_S: Final = 15.0
_MOST_SEEN: Final = 400


@attrs.define(eq=False)
class Held:
    """The pieces of one document, and what was looked for."""

    snippets: tuple[Snippet, ...] = ()
    n_changes: int = 0
    n_built: int = 0
    """Folders looked through when pieces were looked for last."""
    n_searches: int = 0
    looked_s: float = 0.0
    _pieces: tuple[Piece, ...] = ()
    _seen: set[str] = attrs.field(factory=set)
    """Names that were looked for."""
    _line: int | None = None
    """Where was looked last; None: nowhere yet."""
    _last_line: int = 0
    _last_call_s: float = 0.0
    _changed_s: float = 0.0
    _looking: bool = False
    _owed: bool = False
    """What is being looked for may come in at once."""
    _found: Sequence[Piece] | None = None

    @property
    def is_empty_handed(self) -> bool:
        """Nothing is quoted, nothing was found, and nobody is looking."""
        return not self.snippets and not self._found and not self._looking

    def must_look(self, now_s: float, line: int, names: Collection[str], *, returned: bool) -> bool:
        """Whether to look for pieces around `line`. Then `looking` and, in the end, `found` follow.

        `names`: those near the cursor. `returned`: from another document.
        """
        jumped = abs(line - self._last_line) > JUMP_LINES and self._is_far(line)
        self._last_line = line
        if self._line is None or jumped or returned:
            self._owed = True
            return True  # even while looking: the newest place wins
        new = not self._seen.issuperset(names)
        return new and not self._looking and now_s - self.looked_s >= LOOK_S

    def looking(self, now_s: float, line: int, names: Collection[str]) -> int:
        """A search has begun. The number tells it from later ones."""
        if len(self._seen) > _MOST_SEEN:
            self._seen.clear()
        self._seen.update(names)
        self._line, self.looked_s, self._looking = line, now_s, True
        self.n_searches += 1
        return self.n_searches

    def found(self, search: int, pieces: Sequence[Piece]) -> None:
        """A search has ended. Called by the background thread; the next `settle` takes it up."""
        if search == self.n_searches:
            self._found = pieces
            self._looking = False

    def settle(self, now_s: float) -> tuple[Snippet, ...]:
        """What a fill at this moment quotes."""
        paused = now_s - self._last_call_s >= PAUSE_S
        self._last_call_s = now_s
        found = self._found
        if found is None or self._looking:
            return self.snippets
        calm = not self._pieces or (paused and now_s - self._changed_s >= CALM_S)
        if self._owed or calm:
            self._found = None
            self._take(found, now_s, any_news=self._owed)
            self._owed = False
        return self.snippets

    def _take(self, found: Sequence[Piece], now_s: float, *, any_news: bool) -> None:
        packed = pack(found)
        news = set(packed).difference(self._pieces)
        if not any_news:
            news = {piece for piece in news if piece.kind is Kind.DEFINITION}
        if news:
            staying = [piece for piece in self._pieces if piece in packed]
            self._pieces = (*staying, *(piece for piece in packed if piece not in staying))
            self.snippets = snippets_of(self._pieces)
            self._changed_s = now_s
            self.n_changes += 1

    def _is_far(self, line: int) -> bool:
        return self._line is None or abs(line - self._line) > REGION_LINES
