"""Notebooks. Owns: which cells they have, in which order, and the text that a cell stands in.

Must not know: messages, the engine. Runs in the event loop. A cell's own text is a document like any other, in
`Documents`; it gets here what comes before and after it: the code cells of its language, and what the markdown cells
say, as comments. Cells of other languages and outputs are left out.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final

import attrs
from lsprotocol import types
from pygls.uris import to_fs_path

from lsp_server.documents import Document, Documents, UnknownDocumentError, key_of
from lsp_server.line_ends import to_model

_BETWEEN: Final = "\n\n"
_MARKDOWN: Final = "markdown"
_SLASHES: Final = frozenset(
    (
        "c",
        "cpp",
        "csharp",
        "dart",
        "fsharp",
        "go",
        "groovy",
        "java",
        "javascript",
        "kotlin",
        "rust",
        "scala",
        "typescript",
    )
)
"""Languages of kernels whose comments begin with `//`; the others' begin with `#`."""


@attrs.define(eq=False)
class _Notebook:
    uri: str
    cells: list[str]
    """Keys of the cells' documents, in order."""


class Notebooks:
    """All open notebooks."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._open: dict[str, _Notebook] = {}
        self._homes: dict[str, _Notebook] = {}
        """The notebook of each cell."""

    def open(self, opened: types.NotebookDocument) -> None:
        """Take over a notebook; its cells' documents follow."""
        self.close(opened.uri)
        notebook = _Notebook(opened.uri, [])
        self._open[key_of(opened.uri)] = notebook
        self._splice(notebook, types.NotebookCellArrayChange(0, 0, opened.cells))

    def change(self, uri: str, change: types.NotebookCellArrayChange) -> None:
        """Cells come, go or move. Raises `UnknownDocumentError`."""
        notebook = self._open.get(key_of(uri))
        if notebook is None:
            raise UnknownDocumentError(uri)
        self._splice(notebook, change)

    def close(self, uri: str) -> None:
        """Forget a notebook; nothing happens when there is none."""
        notebook = self._open.pop(key_of(uri), None)
        if notebook is not None:
            self._splice(notebook, types.NotebookCellArrayChange(0, len(notebook.cells)))

    def adopt(self, document: Document) -> None:
        """Tell a cell's document where it belongs."""
        key = key_of(document.uri)
        if (notebook := self._homes.get(key)) is not None:
            document.around = functools.partial(self.around, document.uri)
            document.path = to_fs_path(notebook.uri) or ""

    def around(self, uri: str) -> tuple[str, str]:
        r"""The text before and after a cell, with `\n` as line end; between cells there is a blank line."""
        key = key_of(uri)
        notebook = self._homes.get(key)
        if notebook is None or key not in notebook.cells:
            return "", ""
        language = self._documents.get(uri).language
        index = notebook.cells.index(key)
        before = self._texts(notebook.cells[:index], language)
        after = self._texts(notebook.cells[index + 1 :], language)
        return "".join(text + _BETWEEN for text in before), "".join(_BETWEEN + text for text in after)

    def _splice(self, notebook: _Notebook, change: types.NotebookCellArrayChange) -> None:
        new = [key_of(cell.document) for cell in change.cells or ()]
        end = change.start + change.delete_count
        for key in notebook.cells[change.start : end]:
            self._homes.pop(key, None)
        notebook.cells[change.start : end] = new
        self._homes.update(dict.fromkeys(new, notebook))

    def _texts(self, cells: Iterable[str], language: str) -> Iterable[str]:
        for key in cells:
            try:
                document = self._documents.get(key)
            except UnknownDocumentError:  # told of, but never opened
                continue
            if text := _seen_from(language, document):
                yield text


def _seen_from(language: str, document: Document) -> str:
    """What a cell of `language` sees of another cell."""
    if document.language not in (language, _MARKDOWN):
        return ""
    text = to_model(document.text).strip("\n")
    if not text.strip():
        return ""
    if document.language == language:
        return text
    mark = "//" if language in _SLASHES else "#"
    return "\n".join(f"{mark} {line}".rstrip() for line in text.split("\n"))
