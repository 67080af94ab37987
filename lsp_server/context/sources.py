"""Open documents as the background thread sees them. Owns: copies that don't change, and what is known of each.

Must not know: the disk, the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from attrs import frozen

from lsp_server.context.definitions import Definition, definitions_in
from lsp_server.context.secret_shapes import secret_lines
from lsp_server.documents import Document
from lsp_server.line_ends import line_end

MAX_LINES: Final = 20_000
MAX_CHARS: Final = 1_000_000
"""Nothing is quoted of a longer document."""
_MOST_KEPT: Final = 32


@frozen
class Source:
    """One open document at one version. The lines are those of the document: strings don't change."""

    key: str
    version: int
    language: str
    file: str
    """Where it lies on disk; empty: nowhere."""
    path: str
    """As told to the model."""
    raw: tuple[str, ...]
    """With line ends."""

    @classmethod
    def of(cls, document: Document, key: str, folder: str) -> Source:
        """A copy of the document as it is now; costs one reference a line."""
        lines = document.lines
        raw = tuple(lines) if len(lines) <= MAX_LINES and sum(map(len, lines)) <= MAX_CHARS else ()
        path = PurePath(document.path or key)
        shown = path.relative_to(folder).as_posix() if folder and path.is_relative_to(folder) else path.name
        return cls(key, document.version, document.language, document.path, shown, raw)


@frozen
class Facts:
    """What is known of a source."""

    version: int
    lines: Sequence[str]
    """Without line ends."""
    definitions: dict[str, list[Definition]]
    secrets: set[int]
    """Lines that must not be quoted."""

    @classmethod
    def of(cls, lines: Sequence[str], language: str, version: int = 0) -> Facts:
        """Read them off the text."""
        found: dict[str, list[Definition]] = {}
        for definition in definitions_in(lines, language):
            found.setdefault(definition.name, []).append(definition)
        return cls(version, lines, found, secret_lines("\n".join(lines)))

    def quotable(self, first: int, after: int) -> bool:
        """Whether the lines from `first` up to `after` hold no secret."""
        return self.secrets.isdisjoint(range(first, after))


class Known:
    """The facts of open documents, newest versions only. Used by the background thread."""

    def __init__(self) -> None:
        self._facts: dict[str, Facts] = {}

    def of(self, source: Source) -> Facts:
        """The facts of a source, made when missing."""
        facts = self._facts.get(source.key)
        if facts is None or facts.version != source.version:
            lines = [line[: len(line) - len(line_end(line))] for line in source.raw]
            facts = Facts.of(lines, source.language, source.version)
            self._facts.pop(source.key, None)
            while len(self._facts) >= _MOST_KEPT:
                del self._facts[next(iter(self._facts))]
            self._facts[source.key] = facts
        return facts
