"""The language server: what the features (`lsp_server.features`) work with. Owns: the parts, and how they are joined.

Runs in the event loop, in one thread.
"""

from __future__ import annotations

import functools
import importlib.metadata
import logging
from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from engine.client import EngineClient, connect_or_start
from engine.protocol import Loading
from lsp_server.abilities import Abilities
from lsp_server.completions.completions import Completions
from lsp_server.config import DEFAULTS, ServerConfig, read_config
from lsp_server.context.context import Context
from lsp_server.documents import Document, Documents, UnknownDocumentError
from lsp_server.engine_link import EngineLink, LinkState, Listeners
from lsp_server.failures import invalid_params
from lsp_server.fills import Fills
from lsp_server.in_flight import InFlight
from lsp_server.jobs import Jobs
from lsp_server.offers import Registrations, later, trim
from lsp_server.progress import LoadingProgress
from lsp_server.protocol_types import FRAME, STATUS, Status, make_converter
from lsp_server.surroundings import Surroundings
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
        self.client = Abilities()
        """What the client can do; known from `initialize` on."""
        self.config: ServerConfig = DEFAULTS
        self.complaints: dict[str, bool] = {}
        """About the settings, and whether they have been told."""
        self.folders: tuple[Path, ...] = ()
        """Of the workspace; see `set_folders`."""
        self.in_flight = InFlight()
        self.loading = LoadingProgress(self.work_done_progress)
        self.link = EngineLink(
            self._connect, Listeners(state=self._on_state, loading=self._on_loading, outage=self._on_outage)
        )
        self.context = Context()
        self.usage = Usage()
        around = Surroundings(lambda: self.config, self.context.snippets, self.context.why_excluded)
        send_frame = functools.partial(self.protocol.notify, FRAME)
        self.completions = Completions(self.link, self.in_flight, send_frame, around, self.usage)
        self.fills = Fills(self.link, self.in_flight, send_frame, around)
        self.jobs = Jobs(self.work_done_progress)
        self.registrations = Registrations(
            self.client_register_capability_async, self.client_unregister_capability_async
        )
        self.protocol.on_offered = lambda offered: trim(offered, self.client, self.config)
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

    def configure(self, *given: object) -> None:
        """Take the client's settings, later over earlier. An engine that they no longer fit is let go."""
        before = self.config
        self.config, complaints = read_config(*given)
        self.context.configure(self.config)
        if self.config != before:
            self.completions.forget()
        self.complaints = {complaint: self.complaints.get(complaint, False) for complaint in complaints}
        if self.config.endpoint != before.endpoint:
            self.link.let_go(stop_engine=False)  # it belongs to others too
        elif self.config.model != before.model and not self._runs(self.config.model):
            self.link.let_go(stop_engine=True)

    def tell_complaints(self) -> None:
        """All that is wrong with the settings and not told yet, in one message."""
        new = [complaint for complaint, told in self.complaints.items() if not told]
        if new:
            self.complaints = dict.fromkeys(self.complaints, True)
            self.tell("Midfill: wrong settings, the defaults are used: " + "; ".join(new), types.MessageType.Warning)

    def tell(self, text: str, kind: types.MessageType = types.MessageType.Info) -> None:
        """A message to the user. Never on the way of a keystroke."""
        self.window_show_message(types.ShowMessageParams(kind, text))

    def set_folders(self, folders: tuple[Path, ...]) -> None:
        """Take the workspace's folders."""
        self.folders = folders
        self.context.set_folders(folders)

    def offer(self) -> None:
        """Register with the client what these settings and folders ask for, and take back the rest."""
        self.registrations.want(later(self.client, self.config, has_folders=bool(self.folders)))

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
        if not self.protocol.shutdown_asked:
            self.protocol.notify(STATUS, self.status())

    def _on_loading(self, loading: Loading) -> None:
        if self.client.shows_progress:
            self.loading.show(loading)

    def _on_outage(self, cause: str) -> None:
        if self.protocol.shutdown_asked:
            return
        self.tell(f"Midfill has no engine: {cause}", types.MessageType.Error)

    def _runs(self, model: str) -> bool:
        """Whether the engine runs what the setting `model` names."""
        welcome = self.link.welcome
        return welcome is not None and bool(model) and welcome.model.name == Path(model).name
