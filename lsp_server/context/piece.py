"""A piece of text worth quoting. Owns: how pieces become the snippets of a fill, within a budget.

Must not know: where pieces come from. Definitions of one file share one snippet, so that its path is paid for once.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

import attrs
from attrs import frozen

from engine.protocol import Snippet

BUDGET_CHARS: Final = 960
"""All snippets together, paths included. On a CPU the engine spends some 300 tokens on them, drops what is too much,
and a token of code has a little more than three characters."""
_FRAME_CHARS: Final = 8
"""What a file's marker and line ends cost."""
_SHORTEST_CUT: Final = 120


class Kind(enum.IntEnum):
    """Why a piece is worth quoting; lower numbers are worth more."""

    DEFINITION = 0
    """Of a name used near the cursor."""
    EDIT = 1
    """Somebody was at work there."""
    LIKENESS = 2
    """It shares rare words with the lines at the cursor."""


_SHARE: Final = {Kind.DEFINITION: 1.0, Kind.EDIT: 0.4, Kind.LIKENESS: 0.6}
"""Of the budget, that pieces of a kind may take."""


@frozen
class Piece:
    """Some lines of a file."""

    kind: Kind
    path: str
    """As told to the model: relative to the workspace folder."""
    line: int
    text: str
    """Lines without the last one's end."""


def pack(pieces: Iterable[Piece], budget: int = BUDGET_CHARS) -> tuple[Piece, ...]:
    """The first of `pieces` that fit. What does not fit as a whole is cut at a line once, or left out."""
    packed: list[Piece] = []
    paths: set[str] = set()
    left = budget
    left_of = {kind: int(share * budget) for kind, share in _SHARE.items()}
    for piece in pieces:
        path_cost = 0 if piece.path in paths else len(piece.path) + _FRAME_CHARS
        room = min(left, left_of[piece.kind]) - path_cost
        if len(piece.text) >= room:
            piece = _cut(piece, room)
        if not piece.text or any(piece.path == other.path and piece.text in other.text for other in packed):
            continue
        cost = path_cost + len(piece.text) + 1
        left, left_of[piece.kind] = left - cost, left_of[piece.kind] - cost
        paths.add(piece.path)
        packed.append(piece)
    return tuple(packed)


def snippets_of(pieces: Iterable[Piece]) -> tuple[Snippet, ...]:
    """One snippet for each file, in the order in which files first come, with its pieces in the file's order."""
    files: dict[str, list[Piece]] = {}
    for piece in pieces:
        files.setdefault(piece.path, []).append(piece)
    return tuple(
        Snippet(path, "\n".join(piece.text for piece in sorted(held, key=lambda piece: piece.line)))
        for path, held in files.items()
    )


def _cut(piece: Piece, room: int) -> Piece:
    end = piece.text.rfind("\n", 0, max(0, room))
    return attrs.evolve(piece, text=piece.text[:end].rstrip() if end >= _SHORTEST_CUT else "")
