"""Where the suffix decides: the middle must define what only the text behind it names. Owns: the rule.

A model that reads leftwards alone can't know such a name. Must not know: cases, models.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

_NEAR: Final = 400
"""Characters behind the hole within which the name is used: every model is shown that much."""
_WORD: Final = re.compile(r"\w+")


@frozen(order=True)
class _Place:
    """A name in a file."""

    offset: int
    name: str
    binds: bool
    """It is given its meaning here; else it is read."""


@frozen
class _Names:
    """All names of a file."""

    places: tuple[_Place, ...]
    """By offset."""
    first: dict[str, int]
    """Where each word is first seen, in comments and texts, too."""


def suffix_decides(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` defines a name that is nowhere before, and is read soon behind, before it is redefined.

    Assignment targets, parameters, imports, functions and classes define names. False when `text` is no Python.
    """
    names = _names(text)
    defined = {place.name for place in names.places if start <= place.offset < end and place.binds}
    new = {name for name in defined if names.first[name] >= start}
    for place in names.places:
        if place.offset >= end + _NEAR or not new:
            return False
        if place.offset >= end and place.name in new:
            if not place.binds:
                return True
            new.discard(place.name)
    return False


@functools.lru_cache(maxsize=1024)  # cuts jump from file to file
def _names(text: str) -> _Names:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return _Names((), {})
    first: dict[str, int] = {}
    for word in _WORD.finditer(text):
        first.setdefault(word[0], word.start())
    return _Names(tuple(sorted(_places(tree, text))), first)


def _places(tree: ast.AST, text: str) -> Iterator[_Place]:
    lines = text.split("\n")  # not `splitlines`: a form feed ends no line for Python
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offset(node: ast.expr | ast.stmt | ast.arg | ast.alias) -> int:
        line = lines[node.lineno - 1]
        return starts[node.lineno - 1] + len(line.encode()[: node.col_offset].decode())  # columns are bytes

    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield _Place(offset(node), node.id, not isinstance(node.ctx, ast.Load))
        elif isinstance(node, ast.arg):
            yield _Place(offset(node), node.arg, True)
        elif isinstance(node, ast.alias) and node.name != "*":
            name = node.asname or node.name.partition(".")[0]
            yield _Place(_named(text, name, offset(node)), name, True)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield _Place(_named(text, node.name, offset(node)), node.name, True)


def _named(text: str, name: str, start: int) -> int:
    """Where a statement that starts at `start` says the name."""
    found = re.compile(rf"\b{re.escape(name)}\b").search(text, start)
    return found.start() if found else start
