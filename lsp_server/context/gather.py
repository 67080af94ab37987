"""What is worth quoting at a cursor. Owns: where it is looked for, and what is worth more.

Must not know: when it is looked for, what is done with it. Runs in the background thread, on copies. In order of worth:
definitions of names in the lines near the cursor, nearest first (other open documents, the document's own far parts,
the index); places where other open documents were just edited; text that shares rare words with the lines at the
cursor. Never what the prompt holds anyway: the lines around the cursor. Never a line with a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Final

import attrs
from attrs import frozen

from lsp_server.context.chunks import chunks_of
from lsp_server.context.definitions import outline
from lsp_server.context.identifiers import names_in, parts_of, words_in
from lsp_server.context.index import WorkspaceIndex
from lsp_server.context.languages import related
from lsp_server.context.piece import Kind, Piece
from lsp_server.context.sources import Facts, Known, Source
from lsp_server.context.store import Place

LINES_BEFORE: Final = 12
LINES_AFTER: Final = 3
"""The lines near the cursor."""
_READ_CHARS: Final = 200
"""As much of a line to each side of the cursor is read."""
_SEEN_BEFORE, _SEEN_AFTER = 70, 40
"""The lines that a small prompt holds anyway."""
_MOST_NAMES: Final = 40
_MOST_DEFINITIONS: Final = 12
_MOST_HOMES: Final = 4
"""A name that is defined in more places says little, unless an import tells which one is meant."""
_LOOKED_AT: Final = 24
_MOST_EDITS: Final = 2
_EDIT_REACH: Final = 6
"""Lines around an edit."""
_MOST_LIKE: Final = 2
_RAREST_WORDS: Final = 8
_SHARED_WORDS: Final = 4
"""Fewer shared words are chance."""
_LIKE_LINES: Final = 14
_IMPORT: Final = re.compile(r"[ \t]*(?:import|from|use|using|require|#include|export \w* ?from)\b|.*\brequire\(")
_IMPORT_LINES: Final = 200
_CALLED: Final = re.compile(r"\b\w+(?=!?\()")


@frozen
class Question:
    """What to look for, and in what."""

    target: Source
    line: int
    others: tuple[Source, ...] = ()
    """Other open documents, most recently used first."""
    edits: tuple[tuple[str, int], ...] = ()
    """Documents and lines of the last edits, newest first."""
    folder: str = ""
    """The workspace folder of the target; empty: none."""


def names_near(lines: Sequence[str], line: int, skipped: int = -1) -> list[str]:
    """Names in the lines near `line`, nearest first. The one that ends at column `skipped` is still being typed."""
    order = [line, *range(line - 1, line - LINES_BEFORE - 1, -1), *range(line + 1, line + LINES_AFTER + 1)]
    names: dict[str, None] = {}
    for index in order:
        if 0 <= index < len(lines):
            text = lines[index]
            if index == line and skipped >= 0:
                before, after = text[max(0, skipped - _READ_CHARS) : skipped], text[skipped:]
                while before and (before[-1].isalnum() or before[-1] == "_"):
                    before = before[:-1]
                text = f"{before} {after}"
            names.update(dict.fromkeys(names_in(text[: 2 * _READ_CHARS])))
    return list(names)[:_MOST_NAMES]


@attrs.define
class Gatherer:
    """Looks for pieces. `index_of` gives the index of a workspace folder, if there is one that can be used."""

    index_of: Callable[[str], WorkspaceIndex | None]
    known: Known = attrs.field(factory=Known)

    def gather(self, question: Question) -> list[Piece]:
        """Pieces worth quoting, best first. Raises `sqlite3.Error`."""
        target = self.known.of(question.target)
        index = self.index_of(question.folder) if question.folder else None
        others = [one for one in question.others if related(one.language, question.target.language)]
        others = [one for one in others if not one.file or one.file != question.target.file]
        return [
            *self._definitions(question, target, others, index),
            *self._edits(question, target, others),
            *self._likeness(question, target, others, index),
        ]

    def _definitions(
        self, question: Question, target: Facts, others: list[Source], index: WorkspaceIndex | None
    ) -> Iterator[Piece]:
        imports = [line for line in target.lines[:_IMPORT_LINES] if _IMPORT.match(line)]
        imported = _words_of(imports)
        referred = _referred(_near(target.lines, question.line), imports)
        seen = range(question.line - _SEEN_BEFORE, question.line + _SEEN_AFTER)
        open_files = {one.file for one in (question.target, *question.others)}
        n_found = 0
        for name in names_near(target.lines, question.line):
            own = [one.line for one in target.definitions.get(name, ())]
            if name not in referred or any(line in seen for line in own):
                continue
            piece: Piece | None = None
            if own:
                piece = _definition(question.target.path, question.target.language, target, own[0])
            for other in () if piece else others:
                facts = self.known.of(other)
                if places := facts.definitions.get(name):
                    piece = _definition(other.path, other.language, facts, places[0].line)
                    break
            if piece is None and index is not None:
                piece = _indexed(index, name, question.target.language, imported, open_files)
            if piece is not None:
                yield piece
                n_found += 1
                if n_found == _MOST_DEFINITIONS:
                    return

    def _edits(self, question: Question, target: Facts, others: list[Source]) -> Iterator[Piece]:
        sources = {other.key: other for other in others}
        seen = range(question.line - _SEEN_BEFORE, question.line + _SEEN_AFTER)
        n_found = 0
        for key, line in question.edits:
            own = key == question.target.key
            source = question.target if own else sources.get(key)
            if source is None or (own and line in seen) or n_found == _MOST_EDITS:
                continue
            facts = target if own else self.known.of(source)
            first, after = max(0, line - _EDIT_REACH), min(len(facts.lines), line + _EDIT_REACH + 1)
            if own:  # what the prompt holds is no news
                first, after = (first, min(after, seen.start)) if line < seen.start else (max(first, seen.stop), after)
            if (piece := _piece(Kind.EDIT, source.path, facts, first, after)) is not None:
                yield piece
                n_found += 1

    def _likeness(
        self, question: Question, target: Facts, others: list[Source], index: WorkspaceIndex | None
    ) -> Iterator[Piece]:
        words = set(words_in(_near(target.lines, question.line)))
        if (piece := self._most_alike(words, others)) is not None:
            yield piece
        if index is None:
            return
        open_files = {one.file for one in (question.target, *question.others)}
        n_found = 0
        for place in index.search(iter(words), _RAREST_WORDS, _LOOKED_AT):
            file = str(index.folder / place.path)
            if file in open_files or not related(place.language, question.target.language):
                continue
            if (read := index.read(place)) is None:
                continue
            facts = Facts.of(read.lines, place.language)
            first, after = _densest(facts.lines, place.first, place.after, words)
            if (piece := _piece(Kind.LIKENESS, place.path, facts, first, after)) is not None:
                yield piece
                n_found += 1
                if n_found == _MOST_LIKE:
                    return

    def _most_alike(self, words: set[str], others: list[Source]) -> Piece | None:
        best: tuple[int, Piece] | None = None
        for other in others:
            facts = self.known.of(other)
            for chunk in chunks_of(facts.lines):
                shared = len(words.intersection(words_in("\n".join(facts.lines[chunk.first : chunk.after]))))
                if shared >= _SHARED_WORDS and (best is None or shared > best[0]):
                    first, after = _densest(facts.lines, chunk.first, chunk.after, words)
                    piece = _piece(Kind.LIKENESS, other.path, facts, first, after)
                    best = (shared, piece) if piece is not None else best
        return best[1] if best is not None else None


def _indexed(index: WorkspaceIndex, name: str, language: str, imported: set[str], open_files: set[str]) -> Piece | None:
    places = [
        place
        for place in index.defined(name, _LOOKED_AT)
        if related(place.language, language) and str(index.folder / place.path) not in open_files
    ]
    places.sort(key=lambda place: -_hints(place, imported))
    if not places or (len(places) > _MOST_HOMES and not _hints(places[0], imported)):
        return None
    file = index.read(places[0])
    if file is None:
        return None
    facts = Facts.of(file.lines, language)
    return _definition(places[0].path, language, facts, places[0].first)


def _definition(path: str, language: str, facts: Facts, line: int) -> Piece | None:
    text = outline(facts.lines, line, language)
    hidden = {facts.lines[secret].strip() for secret in facts.secrets}
    if not text.strip() or any(kept.strip() in hidden for kept in text.split("\n")):
        return None
    return Piece(Kind.DEFINITION, path, line, text)


def _piece(kind: Kind, path: str, facts: Facts, first: int, after: int) -> Piece | None:
    while first < after and not facts.lines[first].strip():
        first += 1
    text = "\n".join(facts.lines[first:after]).rstrip()
    return Piece(kind, path, first, text) if text and facts.quotable(first, after) else None


def _densest(lines: Sequence[str], first: int, after: int, words: set[str]) -> tuple[int, int]:
    """The part of a chunk that holds most of `words`."""
    counts = [len(words.intersection(words_in(line))) for line in lines[first:after]]
    starts = range(max(1, len(counts) - _LIKE_LINES + 1))
    best = max(starts, key=lambda start: sum(counts[start : start + _LIKE_LINES]), default=0)
    return first + best, min(after, first + best + _LIKE_LINES)


def _near(lines: Sequence[str], line: int) -> str:
    near = lines[max(0, line - LINES_BEFORE) : line + LINES_AFTER + 1]
    return "\n".join(text[: 2 * _READ_CHARS] for text in near)


def _referred(text: str, imports: Iterable[str]) -> set[str]:
    """Names in `text` that may be defined elsewhere: imported, called, or a type's. Others are mostly variables."""
    imported = {name for line in imports for name in names_in(line)}
    called = set(_CALLED.findall(text))
    return {name for name in names_in(text) if name in imported or name in called or name[0].isupper()}


def _words_of(lines: Iterable[str]) -> set[str]:
    """Words of the lines that import something."""
    return {word for text in lines for word in (*re.findall(r"\w+", text.lower()), *_all_parts(text))}


def _all_parts(text: str) -> Iterator[str]:
    for name in names_in(text):
        yield from parts_of(name)


def _hints(place: Place, imported: Iterable[str]) -> int:
    """How many parts of a file's path are named by imports."""
    path = PurePath(place.path)
    parts = {part.lower() for part in (*path.parts[:-1], path.stem)}
    return len(parts.intersection(imported))
