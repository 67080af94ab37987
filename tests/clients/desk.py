"""An editor that can be told what it supports: it registers what the server asks for, applies edits, has notebooks."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types

from tests.lsp.editor import Ask, Editor

NOTEBOOK = "file:///work/book.ipynb"


def cell_uri(name: str) -> str:
    """As VS Code builds them."""
    return f"vscode-notebook-cell:/work/book.ipynb#{name}"


@attrs.define
class Desk(Editor):
    """An editor window of any kind."""

    registered: dict[str, types.Registration] = attrs.field(factory=dict)
    """By method: what the server has registered at present."""
    n_registrations: int = 0
    edits: list[types.ApplyWorkspaceEditParams] = attrs.field(factory=list)
    """What the server wanted to change, in the order of arrival."""
    takes_edits: bool = True

    def _listen(self) -> None:
        super()._listen()
        for known in (types.WINDOW_SHOW_MESSAGE, types.PROGRESS):  # the client's own handlers wake nobody
            self.client.protocol.fm.features.pop(known)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        async def register(params: types.RegistrationParams) -> None:
            for one in params.registrations:
                assert one.method not in self.registered, "registered twice"
                self.registered[one.method] = one
            self.n_registrations += 1
            await self._tell()

        @self.client.feature(types.CLIENT_UNREGISTER_CAPABILITY)
        async def unregister(params: types.UnregistrationParams) -> None:
            for one in params.unregisterations:
                assert self.registered.pop(one.method).id == one.id
            await self._tell()

        @self.client.feature(types.WORKSPACE_APPLY_EDIT)
        async def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            await self._note(self.edits, params)
            return types.ApplyWorkspaceEditResult(self.takes_edits, None if self.takes_edits else "not now")

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        async def message(params: types.ShowMessageParams) -> None:
            await self._note(self.client.messages, params)

        @self.client.feature(types.PROGRESS)
        async def progress(params: types.ProgressParams) -> None:
            self.client.progress_reports.setdefault(params.token, []).append(params)
            await self._tell()

    async def until(self, holds: Any) -> None:
        """Wait until something holds; looked at whenever the server has said something."""
        async with self.news:
            await self.news.wait_for(holds)

    async def until_registered(self, *methods: str) -> None:
        """Wait until exactly these are registered."""
        await self.until(lambda: set(self.registered) == set(methods))

    async def until_message(self, n: int = 1) -> types.ShowMessageParams:
        """Wait for the `n`th message to the user."""
        await self.until(lambda: len(self.client.messages) >= n)
        return self.client.messages[n - 1]

    def command(self, name: str, *arguments: Any) -> Ask:
        """Execute a command."""
        params = types.ExecuteCommandParams(name, list(arguments) or None)
        return self.request(types.WORKSPACE_EXECUTE_COMMAND, params)

    def configure(self, settings: Any) -> None:
        """Send `workspace/didChangeConfiguration`."""
        params = types.DidChangeConfigurationParams(settings)
        self.client.workspace_did_change_configuration(params)

    def open_notebook(self, *cells: tuple[str, str, str]) -> None:
        """Open a notebook of cells, each a name, a language and a text."""
        notebook = types.NotebookDocument(NOTEBOOK, "jupyter-notebook", 1, [_cell(*cell) for cell in cells])
        texts = [self._cell_text(*cell) for cell in cells]
        self.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, texts))

    def splice(
        self, start: int, n_deleted: int, *cells: tuple[str, str, str], opened: int = 0, closed: tuple[str, ...] = ()
    ) -> None:
        """Change the notebook's cells; the first `opened` of the new ones are new to the server."""
        array = types.NotebookCellArrayChange(start, n_deleted, [_cell(*cell) for cell in cells])
        structure = types.NotebookDocumentCellChangeStructure(
            array,
            [self._cell_text(*cell) for cell in cells[:opened]],
            [types.TextDocumentIdentifier(cell_uri(name)) for name in closed],
        )
        self._change_notebook(types.NotebookDocumentCellChanges(structure=structure))

    def edit_cell(self, name: str, text: str) -> None:
        """Replace a cell's whole text."""
        uri = cell_uri(name)
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri)
        change = types.NotebookDocumentCellContentChanges(
            document, [types.TextDocumentContentChangeWholeDocument(text=text)]
        )
        self._change_notebook(types.NotebookDocumentCellChanges(text_content=[change]))

    def close_notebook(self, *names: str) -> None:
        """Close it, with its cells."""
        cells = [types.TextDocumentIdentifier(cell_uri(name)) for name in names]
        notebook = types.NotebookDocumentIdentifier(NOTEBOOK)
        self.client.notebook_document_did_close(types.DidCloseNotebookDocumentParams(notebook, cells))

    def _change_notebook(self, cells: types.NotebookDocumentCellChanges) -> None:
        notebook = types.VersionedNotebookDocumentIdentifier(2, NOTEBOOK)
        change = types.NotebookDocumentChangeEvent(cells=cells)
        self.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(notebook, change))

    def _cell_text(self, name: str, language: str, text: str) -> types.TextDocumentItem:
        self._versions[cell_uri(name)] = 1
        return types.TextDocumentItem(cell_uri(name), language, 1, text)


def _cell(name: str, language: str, text: str) -> types.NotebookCell:
    kind = types.NotebookCellKind.Markup if language == "markdown" else types.NotebookCellKind.Code
    return types.NotebookCell(kind, cell_uri(name))
