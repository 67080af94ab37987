"""Why a shaped text is better not shown. Owns: the cheap reasons. Must not know: the model's score, syntax."""

from __future__ import annotations

from typing import Final

from lsp_server.outcomes import Nothing
from lsp_server.shaping.overlap import kept_length
from lsp_server.shaping.place import Place

_LONG: Final = 12
"""Visible characters of a line that is not repeated on purpose."""


def why_not(text: str, place: Place) -> Nothing | None:
    """Why not to show a shaped text; None: nothing speaks against it."""
    if not text.strip():
        return Nothing.BLANK
    if not kept_length(text, place):
        return Nothing.FOLLOWS_ALREADY
    if _repeats(text, place):
        return Nothing.REPEATS
    return None


def _repeats(text: str, place: Place) -> bool:
    """Whether whole lines are those right above once more, as from a model that goes round in circles."""
    if not place.begins_line or not place.ends_line:
        return False
    lines = [line.rstrip() for line in (place.head + text).split("\n") if line.strip()]
    if sum(map(len, map(str.strip, lines))) < _LONG:
        return False
    near = place.before[: len(place.before) - len(place.head)][-2 * len(place.head + text) - 1000 :]
    above = [line.rstrip() for line in near.split("\n") if line.strip()]
    return above[-len(lines) :] == lines
