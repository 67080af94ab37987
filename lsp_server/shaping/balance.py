"""Whether brackets and quotes come out even. Owns: counting what is amiss in a statement once an answer is in it.

Must not know: what is done about it. It looks at the statement around the cursor only, by its indentation, so a file of
any size costs the same and an unfinished line elsewhere does no harm.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from attrs import frozen

from lsp_server.shaping.lines import begins_with_closer, columns, is_label, lead_of
from lsp_server.shaping.place import Place
from lsp_server.shaping.scanner import PAIRS, is_quote, tokens

_CHARACTERS_ABOVE: Final = 16_000
_CHARACTERS_BELOW: Final = 3_000
_LINES_BESIDE: Final = 30
"""Lines above at the cursor's indentation that are looked at."""
_OPENERS: Final = frozenset(PAIRS.values())
_LEADING: Final = re.compile(r"[)\]}>,; \t]*")


class _Opened(NamedTuple):
    bracket: str
    column: int
    """Indentation of the statement that opened it."""


def n_faults(place: Place, answer: str, *, angles: bool = False) -> int:
    """How many brackets and quotes are amiss with `answer` in place. Only the difference of two answers means a thing.

    `angles`: `<` and `>` are brackets too.
    """
    joined = place.head + answer
    column = columns(lead_of(joined.lstrip("\n")))
    above = _open_above(place, column)
    statement = _Statement(list(above.opened), column, above.complete)
    text = place.open_string + joined + place.after[:_CHARACTERS_BELOW]
    answered = len(place.open_string) + len(joined)
    last: int | None = None
    for token, at in tokens(text, place.language, angles=angles):
        if token.isspace() and text[at + len(token) : at + len(token) + 1] in ("", "\n"):
            continue  # a blank line
        if token[0] == "\n" and at >= answered:
            last = statement.column if last is None else last
            line = text[at + 1 : text.find("\n", at + 1) % (len(text) + 1)]
            column = columns(lead_of(line))
            if column < last or (column == last and not begins_with_closer(line)):
                return statement.end(line)
        statement.take(token)
    return statement.faults if len(place.after) >= _CHARACTERS_BELOW else statement.end("")


class _Statement:
    """A statement, token by token."""

    def __init__(self, opened: list[_Opened], column: int, complete: bool) -> None:
        self.opened = opened
        self._complete = complete
        """Whether `opened` is all that is open."""
        self.column = column
        self.faults = 0

    def take(self, token: str) -> None:
        """Go on by one token."""
        if token[0] == "\n":
            closer = token.strip()
            self.column = columns(lead_of(token[1:]))
            if closer:
                self._close(closer, leads=True)
        elif token in _OPENERS:
            self.opened.append(_Opened(token, self.column))
        elif is_quote(token):
            self.faults += 1
        else:
            self._close(token, leads=False)

    def end(self, line: str) -> int:
        """What is amiss when the statement ends at a line: all that is not closed and not around that line."""
        self.column = columns(lead_of(line))
        leading = _LEADING.match(line)
        for character in leading[0] if leading else "":
            if character in PAIRS and character != ">":
                self._close(character, leads=True)
        outside = columns(lead_of(line))
        return self.faults + sum(one.column >= outside for one in self.opened)

    def _close(self, closer: str, *, leads: bool) -> None:
        """Close the nearest bracket of a kind. A closer that leads its line stands as deep as what it closes."""
        opener = PAIRS[closer]
        for depth in range(1, len(self.opened) + 1):
            if self.opened[-depth].bracket == opener:
                self.faults += depth - 1 + (leads and self.opened[-depth].column != self.column)
                self.column = self.opened[-depth].column
                del self.opened[-depth:]
                return
        self.faults += self._complete


@frozen
class _Above:
    """What is open where a line begins."""

    opened: tuple[_Opened, ...]
    complete: bool


@lru_cache(maxsize=8)
def _open_above(place: Place, own: int) -> _Above:
    """What the lines that the cursor's line lies within have opened, and those beside it."""
    above = place.before[: len(place.before) - len(place.head)]
    found: list[tuple[str, int]] = []
    outside = False
    for line in reversed(above[-_CHARACTERS_ABOVE:].rstrip("\n").split("\n")):
        if not line.strip():
            continue
        column = columns(lead_of(line))
        if column < own:
            outside, own = True, column + is_label(line)
            leading = _LEADING.match(line)
            found.append((line[leading.end() if leading else 0 :], column))  # what it closes first is not in here
        elif not outside and len(found) < _LINES_BESIDE:
            found.append((line, column))
        if outside and not own:
            break
    statement = _Statement([], 0, complete=True)
    for line, column in reversed(found):
        statement.column = column
        for token, _ in tokens(line, place.language):
            if not is_quote(token):
                statement.take(token)
    return _Above(tuple(statement.opened), complete=not own or len(above) <= _CHARACTERS_ABOVE)
