"""The language server: what the features (`lsp_server.features`) work with. Owns: the parts, and how they are joined.

Runs in the event loop, in one thread.
"""

from __future__ import annotations

import functools
import importlib.metadata
import logging
from collections.abc import Callable

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from engine.client import EngineClient, connect_or_start
from engine.protocol import Loading
from lsp_server.completions.completions import Completions, Surroundings
from lsp_server.config import DEFAULTS, ServerConfig, read_config
from lsp_server.documents import Document, Documents, UnknownDocumentError
from lsp_server.engine_link import EngineLink, LinkState, Listeners
from lsp_server.failures import invalid_params
from lsp_server.fills import Fills
from lsp_server.in_flight import InFlight
from lsp_server.progress import LoadingProgress
from lsp_server.protocol_types import FRAME, STATUS, Status, make_converter
from lsp_server.usage import Usage
from lsp_server.wire import Wire

_log = logging.getLogger(__name__)


class MidfillServer(LanguageServer):
    """One editor window's server."""

    protocol: Wire

    def __init__(self) -> None:
        super().__init__(
            "midfill-lsp",
            importlib.metadata.version("midfill"),
            protocol_cls=Wire,
            converter_factory=make_converter,
            notebook_document_sync=types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook("*")]),
        )
        self.config: ServerConfig = DEFAULTS
        self.complaints: list[str] = []
        """About the settings, not told yet."""
        self.in_flight = InFlight()
        self.loading = LoadingProgress(self.work_done_progress)
        self.link = EngineLink(
            self._connect, Listeners(state=self._on_state, loading=self._on_loading, outage=self._on_outage)
        )
        self.usage = Usage()
        self.completions = Completions(
            self.link,
            self.in_flight,
            functools.partial(self.protocol.notify, FRAME),
            Surroundings(lambda: self.config, lambda document, cursor: (), lambda document: None),
            self.usage,
        )
        self.fills = Fills(self.link, self.in_flight, functools.partial(self.protocol.notify, FRAME))
        self.on_parent: Callable[[int], None] = lambda pid: None
        """Called with the editor's process id; set by `main`."""

    @property
    def documents(self) -> Documents:
        """The open documents."""
        return self.protocol.documents

    def document(self, uri: str) -> Document:
        """An open document. Raises invalid-params."""
        try:
            return self.documents.get(uri)
        except UnknownDocumentError as error:
            raise invalid_params(str(error)) from None

    def status(self) -> Status:
        """How things stand with the engine."""
        link, welcome = self.link, self.link.welcome
        if welcome is None:
            return Status(link.state.value, link.message)
        model = welcome.model
        return Status(link.state.value, link.message, model.name, model.note, welcome.engine_version, welcome.pid)

    def configure(self, given: object) -> None:
        """Take the client's settings."""
        self.config, complaints = read_config(given)
        self.complaints.extend(complaints)

    def tell_complaints(self) -> None:
        """All that is wrong with the settings, in one message."""
        if self.complaints:
            text = "Midfill: wrong settings, the defaults are used: " + "; ".join(self.complaints)
            self.complaints.clear()
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Into the log: pygls would pop up a message, at each keystroke. A request has its error as the answer."""
        if source is not FeatureRequestError:
            _log.error("%s: %s", getattr(source, "__name__", source), type(error).__name__)

    async def _connect(self, on_loading: Callable[[Loading], None]) -> EngineClient:
        config = self.config
        arguments = ("--model", config.model) if config.model else ()
        return await connect_or_start(
            "midfill-lsp", endpoint=config.endpoint, arguments=arguments, on_loading=on_loading
        )

    def _on_state(self, link: EngineLink) -> None:
        if link.state is not LinkState.LOADING:
            self.loading.finish(link.message)
        self.protocol.notify(STATUS, self.status())

    def _on_loading(self, loading: Loading) -> None:
        window = self.client_capabilities.window
        if window is not None and window.work_done_progress:
            self.loading.show(loading)

    def _on_outage(self, cause: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"Midfill has no engine: {cause}"))
