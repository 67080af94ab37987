"""Somebody who types real code. Owns: what is typed, deleted, accepted and undone next, from a seed.

Must not know: editors, servers. A typist cuts a few lines out of a finished file and types them back, with slips,
backspaces and jumps; accepts a suggestion now and then, types through one, and undoes both: so the file is always on
its way back to what it was, and any number of keystrokes can be had from it.
"""

from __future__ import annotations

import random
from typing import Final

from attrs import frozen

_LONGEST_CUT: Final = 6
"""Lines."""
_LONGEST_NOISE: Final = 8
_SLIPS: Final = "abcdefgstuvxyz_(.:"
_ACCEPTS, _TYPES_THROUGH, _SLIP, _BACKSPACES, _JUMPS, _UNDOES = 0.12, 0.3, 0.02, 0.05, 0.003, 0.5
"""How likely, at a key."""
_INDENTS: Final = 0.7
"""How likely an editor indents after a line end by itself."""


@frozen
class Edit:
    """Replace `text[start:end]`."""

    start: int
    end: int
    text: str

    def of(self, text: str) -> str:
        """The text after it."""
        return text[: self.start] + self.text + text[self.end :]

    def undone(self, text: str) -> Edit:
        """What takes it back; `text` is the one before it."""
        return Edit(self.start, self.start + len(self.text), text[self.start : self.end])


class Typist:
    """One person at one file."""

    def __init__(self, source: str, rng: random.Random) -> None:
        self.text = source
        self.cursor = 0
        self.n_accepted = 0
        self.n_typed_through = 0
        self._rng = rng
        self._left = ""
        """Of what was cut, what is still to be typed."""
        self._n_typed = 0
        self._noise = ""
        """Before the cursor, not of the file: slips, and what was typed of a suggestion."""
        self._accepted: list[tuple[Edit, int]] = []
        """What undoes each, and where the cursor was; the last one last."""

    def key(self, suggestion: Edit | None) -> Edit:
        """The next keystroke, already done in `text`; `suggestion` is what is shown at the cursor now."""
        return self._done(*self._next(suggestion))

    def finish(self) -> list[Edit]:
        """What it takes to have the file as it was, already done."""
        edits = []
        while self._accepted or self._noise or self._left:
            step = self._accepted.pop() if self._accepted else None
            step = step or (self._delete(len(self._noise)) if self._noise else self._paste())
            edits.append(self._done(*step))
        return edits

    def _done(self, edit: Edit, cursor: int) -> Edit:
        self.text = edit.of(self.text)
        self.cursor = cursor
        return edit

    def _next(self, suggestion: Edit | None) -> tuple[Edit, int]:
        """What to do, and where the cursor is then."""
        chance = self._rng.random
        if suggestion is not None and len(self._accepted) < 3 and chance() < _ACCEPTS * (3 if self._accepted else 1):
            self._accepted.append((suggestion.undone(self.text), self.cursor))
            self.n_accepted += 1
            return suggestion, suggestion.start + len(suggestion.text)
        if self._accepted:
            return self._accepted.pop()
        typed = suggestion.text[self.cursor - suggestion.start :] if suggestion is not None else ""
        if typed and len(self._noise) < _LONGEST_NOISE and chance() < _TYPES_THROUGH * (2 if self._noise else 1):
            self.n_typed_through += 1
            return self._slip(typed[0])
        if self._noise:
            return self._delete(len(self._noise) if chance() < _UNDOES / len(self._noise) else 1)
        if not self._left:
            return self._cut()
        if chance() < _JUMPS:
            return self._paste()
        if chance() < _SLIP:
            return self._slip(self._rng.choice(_SLIPS))
        if self._n_typed and chance() < _BACKSPACES:
            self._left = self.text[self.cursor - 1] + self._left
            self._n_typed -= 1
            return self._replaced(1, "")
        return self._type()

    def _type(self) -> tuple[Edit, int]:
        n = 1
        if self._left[0] == "\n" and self._rng.random() < _INDENTS:
            n += len(self._left) - 1 - len(self._left[1:].lstrip(" \t"))
        typed, self._left = self._left[:n], self._left[n:]
        self._n_typed += n
        return self._replaced(0, typed)

    def _cut(self) -> tuple[Edit, int]:
        lines = self.text.splitlines(keepends=True)
        first = self._rng.randrange(len(lines))
        start = len("".join(lines[:first]))
        cut = "".join(lines[first : first + self._rng.randint(1, _LONGEST_CUT)])
        n_kept = len(cut) - len(cut.lstrip(" \t"))
        self._left, self._n_typed = cut[n_kept:], 0
        return Edit(start + n_kept, start + len(cut), ""), start + n_kept

    def _paste(self) -> tuple[Edit, int]:
        pasted, self._left = self._left, ""
        return self._replaced(0, pasted)

    def _slip(self, letter: str) -> tuple[Edit, int]:
        self._noise += letter
        return self._replaced(0, letter)

    def _delete(self, n: int) -> tuple[Edit, int]:
        self._noise = self._noise[:-n]
        return self._replaced(n, "")

    def _replaced(self, n: int, text: str) -> tuple[Edit, int]:
        """The `n` characters before the cursor."""
        start = self.cursor - n
        return Edit(start, self.cursor, text), start + len(text)
