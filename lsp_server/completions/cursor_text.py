"""The text on both sides of a cursor. Owns: telling what has been typed since then.

Must not know: documents, versions. Comparing text, and not following edits, works for every client alike: incremental
or full sync, auto-closed pairs, undo, edits by other tools elsewhere in the file.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from lsp_server.windows import Window

_BEFORE_CHARS: Final = 4096
_AFTER_CHARS: Final = 1024
CLOSERS: Final = frozenset(")]}>\"'`")
"""What editors put behind the cursor by themselves."""
_MOST_CLOSERS: Final = 4


@frozen
class CursorText:
    """A cursor's surroundings, as far as they are compared."""

    before: str
    after: str
    reaches_start: bool
    """`before` is everything that there is."""

    @classmethod
    def of(cls, window: Window) -> CursorText:
        """The nearest part of a window."""
        before = window.prefix[-_BEFORE_CHARS:]
        return cls(before, window.suffix[:_AFTER_CHARS], len(before) == len(window.prefix))

    def n_typed(self, text: str, now: CursorText) -> int | None:
        """How many characters of `text` stand before the cursor now that did not then; None: something else happened.

        0 when nothing has changed at all.
        """
        if not self._follows(now):
            return None
        last = now.before[-1:]
        for n in range(len(text) + 1):
            if n and text[n - 1] != last:
                continue
            if self._led_to(now, text[:n]):
                return n
        return None

    def _led_to(self, now: CursorText, typed: str) -> bool:
        text = self.before + typed
        if self.reaches_start and len(text) <= _BEFORE_CHARS:
            return now.before == text
        return now.before == text[-_BEFORE_CHARS:]

    def _follows(self, now: CursorText) -> bool:
        """Whether what is behind the cursor now is what was, but for closers that an editor has added."""
        if now.after == self.after:
            return True
        for n in range(1, _MOST_CLOSERS + 1):
            added = now.after[:n]
            if len(added) < n or added[-1] not in CLOSERS:
                return False
            if now.after == (added + self.after)[:_AFTER_CHARS]:
                return True
        return False
