"""Snippets for an example: what other files of the same package define. Owns: the look-up by name.

A cheap stand-in for the editors' server, which knows a whole workspace: names used near the hole, their signatures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Protocol

from engine.protocol import Snippet
from engine.training.holes import Hole

_DEFINITION: Final = re.compile(
    r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^([A-Za-z_]\w*)[ \t]*(?::[^=\n]+)?=(?!=)", re.M
)
_NAME: Final = re.compile(r"[A-Za-z_]\w{2,}")
_BEFORE, _BEHIND = 600, 300
"""Characters around a hole in which names count."""
_AMBIGUOUS: Final = 3
"""A name that more places define says nothing."""
_MOST: Final = 2
_LONGEST_LINE: Final = 160
_MOST_LINES: Final = 4


class Source(Protocol):
    """One file of a package."""

    @property
    def package(self) -> str:
        """Its name."""
        ...

    @property
    def path(self) -> str:
        """In the package's archive."""
        ...

    @property
    def text(self) -> str:
        """All of it."""
        ...


class Related:
    """The definitions in one package's files."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._places: dict[str, list[tuple[str, str, int]]] = {}
        """By name: path, text and offset of what defines it."""
        for source in sources:
            for match in _DEFINITION.finditer(source.text):
                name = match[1] or match[2]
                self._places.setdefault(name, []).append((source.path, source.text, match.start()))

    def snippets(self, hole: Hole) -> tuple[Snippet, ...]:
        """Definitions of names used around a hole, nearest first; none from its own file."""
        before = _NAME.findall(hole.prefix[-_BEFORE:])[::-1]
        found: list[Snippet] = []
        for name in dict.fromkeys([*before, *_NAME.findall(hole.suffix[:_BEHIND])]):
            places = self._places.get(name, ())
            if not 0 < len(places) <= _AMBIGUOUS or any(path == hole.path for path, _, _ in places):
                continue
            path, text, offset = places[0]
            found.append(Snippet(path, _outline(text, offset)))
            if len(found) == _MOST:
                break
        return tuple(found)


def _outline(text: str, offset: int) -> str:
    """A definition's signature, at its left edge."""
    lines = text[offset : offset + _MOST_LINES * _LONGEST_LINE].split("\n")[:_MOST_LINES]
    indentation = len(lines[0]) - len(lines[0].lstrip())
    kept = []
    for line in lines:
        kept.append(line[min(indentation, len(line) - len(line.lstrip())) :].rstrip()[:_LONGEST_LINE])
        if kept[-1].endswith(":") or kept[0][:1].isupper() or not kept[0].startswith(("def", "class", "async")):
            break
    return "\n".join(kept)
