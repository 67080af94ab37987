"""JSON-RPC with the editor. Owns: that every request is answered, whatever was sent; document sync into `Documents`
and `Notebooks`.

Must not know: the engine, completions. It corrects pygls where that leaves a request without an answer: parameters that
don't fit, requests before `initialize` and after `shutdown`; where a failed notification would pop up a message; and
where it keeps what has been handled.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import cattrs
from attrs import frozen
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest, JsonRpcServerNotInitialized
from pygls.protocol import JsonRPCProtocol, LanguageServerProtocol, lsp_method

from lsp_server.documents import Documents, UnknownDocumentError
from lsp_server.failures import invalid_params
from lsp_server.notebooks import Notebooks
from lsp_server.protocol_types import REQUEST_TYPES

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

_log = logging.getLogger(__name__)
_Kind = TypeVar("_Kind")


@frozen
class _Unreadable:
    """A request whose parameters could not be read."""

    id: int | str
    error: JsonRpcException
    jsonrpc: str = JsonRPCProtocol.VERSION


class Wire(LanguageServerProtocol):
    """pygls' protocol with our documents and without its gaps."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        self.documents = Documents()
        self.notebooks = Notebooks(self.documents)
        self.exit_code: int | None = None
        """Set by `exit`: 0 when `shutdown` came before, else 1."""
        self.ended = threading.Event()
        """Set by `exit`. Of the kind that pygls' loop asks for; no other thread uses it."""
        self.on_offered: Callable[[types.ServerCapabilities], None] = lambda offered: None
        """Called with what is to be offered to the client, to be changed in place."""
        self._initialized = False

    def read(self, given: Any, kind: type[_Kind]) -> _Kind:
        """A value out of a message. Raises invalid-params."""
        try:
            return self._converter.structure(given, kind)
        except Exception as error:
            raise invalid_params(f"this is no {kind.__name__}") from error

    def written(self, value: Any) -> Any:
        """A value as it goes into a message."""
        return self._converter.unstructure(value)

    @property
    def shutdown_asked(self) -> bool:
        """Whether the client has sent `shutdown`."""
        return bool(self._shutdown)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of a message: ours, else the standard's."""
        found: type[Any] | None = REQUEST_TYPES.get(method) or super().get_message_type(method)
        return found

    def structure_message(self, data: dict[str, Any]) -> Any:
        """As pygls, but a request that can't be read is answered: pygls would log it and leave the client waiting."""
        if "jsonrpc" in data and "method" in data and self.get_message_type(data["method"]) is None:
            data.setdefault("params", None)  # may be left out, but pygls' fallback types ask for it
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                return _Unreadable(data["id"], error)
            raise

    def handle_message(self, message: Any) -> None:
        """Take one message from the client."""
        if isinstance(message, _Unreadable):
            self._send_response(message.id, error=message.error.to_response_error())
            return
        method, message_id = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and message_id is not None:
            if self._shutdown:
                refusal = JsonRpcInvalidRequest("the server is shutting down")
                self._send_response(message_id, error=refusal.to_response_error())
                return
            if not self._initialized and method != types.INITIALIZE:
                early = JsonRpcServerNotInitialized("send initialize first")
                self._send_response(message_id, error=early.to_response_error())
                return
        self._initialized = self._initialized or method == types.INITIALIZE
        super().handle_message(message)

    def _execute_handler(self, msg_id: int | str, *args: Any, **kwargs: Any) -> None:
        """As pygls, but nothing is kept of what has been handled: pygls keeps most notifications for ever."""
        super()._execute_handler(msg_id, *args, **kwargs)
        if (future := self._request_futures.get(msg_id)) is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: object) -> None:  # type: ignore[override]
        """End the process, by its main loop: pygls would lose the exit code."""
        self.exit_code = 0 if self._shutdown else 1
        self.ended.set()

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Any:
        """As pygls, and fix the documents' position encoding."""
        result = yield from super().lsp_initialize(params)
        self.on_offered(result.capabilities)
        encoding = result.capabilities.position_encoding or "utf-16"
        self.documents.encoding = types.PositionEncodingKind(encoding)
        return result

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Any:
        """Take over a document."""
        self.documents.open(params.text_document)
        yield from self._tell(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Any:
        """Apply changes."""
        try:
            self.documents.change(params)
        except UnknownDocumentError as error:
            _log.warning("change ignored: %s", error)
            return
        yield from self._tell(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Any:
        """Let go of a document."""
        self.documents.close(params.text_document.uri)
        yield from self._tell(types.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Take over a notebook. To everybody else its cells are documents like any other."""
        self.notebooks.open(params.notebook_document)
        self._open_cells(params.cell_text_documents)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Apply changes of the cells, and of their texts."""
        changes = params.change.cells
        if changes is None:
            return
        if (structure := changes.structure) is not None:
            try:
                self.notebooks.change(params.notebook_document.uri, structure.array)
            except UnknownDocumentError as error:
                _log.warning("change ignored: %s", error)
                return
            self._open_cells(structure.did_open or ())
            self._close_cells(structure.did_close or ())
        for one in changes.text_content or ():
            change = types.DidChangeTextDocumentParams(one.document, one.changes)
            try:
                self.documents.change(change)
            except UnknownDocumentError as error:
                _log.warning("change ignored: %s", error)
            else:
                self._tell_now(types.TEXT_DOCUMENT_DID_CHANGE, change)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Let go of a notebook and its cells."""
        self.notebooks.close(params.notebook_document.uri)
        self._close_cells(params.cell_text_documents)

    def _open_cells(self, items: Iterable[types.TextDocumentItem]) -> None:
        for item in items:
            self.notebooks.adopt(self.documents.open(item))
            self._tell_now(types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))

    def _close_cells(self, items: Iterable[types.TextDocumentIdentifier]) -> None:
        for item in items:
            self.documents.close(item.uri)
            self._tell_now(types.TEXT_DOCUMENT_DID_CLOSE, types.DidCloseTextDocumentParams(item))

    def _tell_now(self, method: str, params: object) -> None:
        """Without a generator: pygls would nest the cells of a notebook too deep. So these handlers are plain ones."""
        if (handler := self.fm.features.get(method)) is not None:
            handler(params)

    def _tell(self, method: str, params: object) -> Any:
        if (handler := self.fm.features.get(method)) is not None:
            yield handler, (params,), None
