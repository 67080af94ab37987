"""A text's syntax tree while the text changes. Owns: the parser, reading again only what has changed.

Must not know: places, what errors mean. Grammars are large and take a while to load, so they are loaded when they are
first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree


@frozen
class Errors:
    """What a parser could not make sense of."""

    count: int
    """Places where something is wrong or missing."""
    size: int
    """Bytes that make no sense."""


class SourceTree:
    """The newest tree of one grammar, from which the next one is made."""

    def __init__(self, grammar: str) -> None:
        from tree_sitter_language_pack import get_parser  # tens of milliseconds, and megabytes

        self._parser: Parser = get_parser(grammar)  # type: ignore[arg-type]
        self._source = b""
        self._tree: Tree | None = None

    def errors(self, source: bytes) -> Errors:
        """The errors of a text."""
        count = size = 0
        nodes = [self._parsed(source).root_node]
        while nodes:
            node = nodes.pop()
            if node.is_error:
                size += node.end_byte - node.start_byte
            if node.is_error or node.is_missing:
                count += 1
            if node.has_error:
                nodes += node.children
        return Errors(count, size)

    def _parsed(self, source: bytes) -> Tree:
        if self._tree is not None and source != self._source:
            start = _n_common(self._source, source)
            n_behind = _n_common(self._source[start:][::-1], source[start:][::-1])
            old_end, new_end = len(self._source) - n_behind, len(source) - n_behind
            self._tree.edit(
                start_byte=start,
                old_end_byte=old_end,
                new_end_byte=new_end,
                start_point=_point(source, start),
                old_end_point=_point(self._source, old_end),
                new_end_point=_point(source, new_end),
            )
        if self._tree is None or source != self._source:
            self._tree = (
                self._parser.parse(source, self._tree) if self._tree is not None else self._parser.parse(source)
            )
            self._source = source
        return self._tree


def _n_common(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _point(source: bytes, at: int) -> tuple[int, int]:
    return source.count(b"\n", 0, at), at - source.rfind(b"\n", 0, at) - 1
