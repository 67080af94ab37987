"""What a model said, fit for its place. Owns: the order of the rules. Must not know: the rules' insides, LSP.

Frames and final texts go the same way, so that nothing jumps when the final text comes. A shaped text stays as it is
when it is shaped again: the rules are repeated until nothing changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from engine.protocol import Span
from lsp_server.shaping.draft import Draft
from lsp_server.shaping.indentation import indented
from lsp_server.shaping.overlap import kept_length
from lsp_server.shaping.place import Place

_MOST_ROUNDS: Final = 8
_ONE_BLANK: Final = re.compile(r"[^ \t][ \t]$")
_COMMENT: Final = re.compile(r"#|//|--|/\*|<!--|;|%")


def shape(spans: Sequence[Span], place: Place) -> tuple[Span, ...]:
    """The text to insert at a place. Empty when the answer is blank and says nothing there."""
    draft = Draft.of(spans)
    for _ in range(_MOST_ROUNDS):
        before, draft = draft, _shaped(draft, place)
        if draft.text == before.text:
            break
    return draft.spans()


def shaped_text(text: str, place: Place) -> str:
    """The same for a text that is settled."""
    return "".join(span.text for span in shape((Span(text, settled=True),), place))


def _shaped(draft: Draft, place: Place) -> Draft:
    draft = draft.part(_n_leading(draft.text, place), len(draft.text))
    draft = draft.replaced(indented(draft.text, place))
    kept = kept_length(draft.text, place) or len(draft.text)
    draft = draft.part(0, kept)
    return draft.part(0, _n_without_trailing(draft.text, place))


def _n_leading(text: str, place: Place) -> int:
    """Blanks at the beginning that stand before the cursor already."""
    if not place.begins_line:
        one = text[:1] == " " and text[1:2] not in ("", " ", "\t", "\n")
        doubled = one and _ONE_BLANK.search(place.head) is not None and not _COMMENT.match(text[1:])
        return 1 if doubled else 0
    if place.head and (body := text.lstrip(" \t\n")):
        blank = text[: len(text) - len(body)]
        if "\n" in blank:  # the line is there, with its indentation
            lead = blank.rpartition("\n")[2]
            return len(blank) - len(lead) + min(len(lead), len(place.head))
    return 0


def _n_without_trailing(text: str, place: Place) -> int:
    """Length without blanks that nothing follows."""
    if place.ends_line:
        return len(text.rstrip())
    if place.rest[0] in " \t" and text.rstrip(" \t")[-1:] not in ("", "\n"):
        return len(text.rstrip(" \t"))
    return len(text)
