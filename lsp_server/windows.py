"""What of a document the engine sees around a region. Owns: how much text, and where it is cut.

Must not know: LSP, the engine. The prefix starts at a multiple of a stride, moved on to a line's start: while the user
types, it only grows at its end, so the engine's prefix cache stays good, and a file of any size costs the same.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from lsp_server.documents import Document
from lsp_server.line_ends import to_model
from lsp_server.positions import Point

PREFIX_CHARS: Final = 48 * 1024
SUFFIX_CHARS: Final = 16 * 1024
STRIDE_CHARS: Final = 16 * 1024


@frozen
class Window:
    r"""Text before and after a region, with `\n` as the only line end and no lone surrogates."""

    prefix: str
    suffix: str


def cut_window(document: Document, start: Point, end: Point) -> Window:
    """The window around the region from `start` to `end`."""
    before, after = document.around()
    return Window(_prefix(document, start, before), _suffix(document, end, after))


def _prefix(document: Document, point: Point, before: str) -> str:
    offset = len(before) + document.offset_at(point)
    n_skipped = max(0, -(-(offset - PREFIX_CHARS) // STRIDE_CHARS)) * STRIDE_CHARS
    n_wanted = offset - n_skipped
    line = document.lines[point.line]
    pieces = [line[max(0, point.column - n_wanted) : point.column]]
    n_found, index = point.column, point.line
    while n_found < n_wanted:
        index -= 1
        piece = document.lines[index] if index >= 0 else before
        pieces.append(piece[max(0, n_found + len(piece) - n_wanted) :])
        n_found += len(piece)
    text = _clean("".join(reversed(pieces)))
    if n_found > n_wanted:  # cut inside a line
        snapped = text.find("\n", 0, STRIDE_CHARS) + 1
        text = text[snapped:]
    return text


def _suffix(document: Document, point: Point, after: str) -> str:
    pieces = [document.lines[point.line][point.column : point.column + SUFFIX_CHARS]]
    n_found = len(document.lines[point.line]) - point.column
    index = point.line + 1
    while n_found < SUFFIX_CHARS and index < len(document.lines):
        pieces.append(document.lines[index][: SUFFIX_CHARS - n_found])
        n_found += len(document.lines[index])
        index += 1
    if n_found < SUFFIX_CHARS:
        pieces.append(after[: SUFFIX_CHARS - n_found])
        n_found += len(after)
    text = _clean("".join(pieces))
    if n_found > SUFFIX_CHARS:
        snapped = text.rfind("\n", SUFFIX_CHARS // 2) + 1
        text = text[:snapped] if snapped else text
    return text


def _clean(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a pair: no tokenizer takes it, and msgpack can't carry it
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return to_model(text)
