"""The open documents, as the client sees them. Owns: their text and versions, incremental changes, positions.

Must not know: pygls' server, the engine. Runs in the event loop. pygls' own workspace is not used: it counts form feeds
and U+2028 as line ends, rounds positions wrongly, and answers for unknown documents by reading the disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import unquote

import attrs
from lsprotocol import types
from pygls.uris import to_fs_path

from lsp_server.line_ends import line_end, split_lines
from lsp_server.positions import Point, column_at, units_at


def key_of(uri: str) -> str:
    """What a document is known by: clients disagree on what to quote, `c%3A` and `c:` are one file."""
    return unquote(uri)


class UnknownDocumentError(LookupError):
    """The client never opened this document, or has closed it."""

    def __init__(self, uri: str) -> None:
        super().__init__(f"{uri} is not open; send textDocument/didOpen first")


def _alone() -> tuple[str, str]:
    return "", ""


@attrs.define
class Document:
    """One open document."""

    uri: str
    language: str
    version: int
    encoding: types.PositionEncodingKind
    lines: list[str] = attrs.field(repr=False)
    """With their line ends; the last has none. A list, so that an edit costs its own lines and not the whole file."""
    path: str = attrs.field(default=attrs.Factory(lambda self: to_fs_path(self.uri) or "", takes_self=True))
    """The file that it belongs to; a cell's is its notebook's. Empty: none."""
    around: Callable[[], tuple[str, str]] = attrs.field(default=_alone, eq=False, repr=False)
    """The text before and after this one in the notebook that it is a cell of."""

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.lines)

    def apply(self, change: types.TextDocumentContentChangeEvent) -> None:
        """Apply one change of a `didChange`."""
        if not isinstance(change, types.TextDocumentContentChangePartial):
            self.lines = split_lines(change.text)
            return
        start, end = self.point_at(change.range.start), self.point_at(change.range.end)
        end = max(start, end)
        first, after = start.line, end.line + 1
        text = self.lines[first][: start.column] + change.text + self.lines[end.line][end.column :]
        if first > 0 and self.lines[first - 1].endswith("\r"):
            first -= 1  # its lone \r and a new \n become one line end
            text = self.lines[first] + text
        lines = split_lines(text)
        if after < len(self.lines):
            lines.pop()  # empty: the text ended with the line end of its last line
        self.lines[first:after] = lines

    def point_at(self, position: types.Position) -> Point:
        """The place that a client's position means; clamped to the left, and to the document."""
        if position.line >= len(self.lines):
            return Point(len(self.lines) - 1, len(self.lines[-1]))
        line = self.lines[position.line]
        length = len(line) - len(line_end(line))
        return Point(position.line, min(column_at(line, position.character, self.encoding), length))

    def position_at(self, point: Point) -> types.Position:
        """The client's position of a place."""
        return types.Position(point.line, units_at(self.lines[point.line], point.column, self.encoding))

    def range_of(self, start: Point, end: Point) -> types.Range:
        """The client's range of two places."""
        return types.Range(self.position_at(start), self.position_at(end))

    def offset_at(self, point: Point) -> int:
        """Code points before a place."""
        return sum(map(len, self.lines[: point.line])) + point.column

    def line_end_at(self, line: int) -> str:
        r"""The line end to insert at `line`: its own, else the one before, else `\n`."""
        return line_end(self.lines[line]) or (line_end(self.lines[line - 1]) if line > 0 else "") or "\n"


class Documents:
    """All open documents by uri."""

    def __init__(self) -> None:
        self.encoding = types.PositionEncodingKind.Utf16
        """Of the client's positions; set once, at `initialize`."""
        self._open: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        return iter(self._open.values())

    def __len__(self) -> int:
        return len(self._open)

    def get(self, uri: str) -> Document:
        """The document. Raises `UnknownDocumentError`."""
        document = self._open.get(key_of(uri))
        if document is None:
            raise UnknownDocumentError(uri)
        return document

    def open(self, item: types.TextDocumentItem) -> Document:
        """Take over a document from the client."""
        document = Document(item.uri, item.language_id, item.version, self.encoding, split_lines(item.text))
        self._open[key_of(item.uri)] = document
        return document

    def change(self, params: types.DidChangeTextDocumentParams) -> Document:
        """Apply the client's changes in order. Raises `UnknownDocumentError`."""
        document = self.get(params.text_document.uri)
        for change in params.content_changes:
            document.apply(change)
        document.version = params.text_document.version
        return document

    def close(self, uri: str) -> None:
        """Forget a document."""
        self._open.pop(key_of(uri), None)
