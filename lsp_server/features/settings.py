"""The client's settings and process: at the start, and when they change."""

from __future__ import annotations

from lsprotocol import types

from lsp_server.server import MidfillServer


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: MidfillServer, params: types.InitializeParams) -> None:
        ls.configure(params.initialization_options)
        if params.process_id is not None:
            ls.on_parent(params.process_id)

    @server.feature(types.INITIALIZED)
    def initialized(ls: MidfillServer, params: types.InitializedParams) -> None:
        ls.tell_complaints()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(ls: MidfillServer, params: types.DidChangeConfigurationParams) -> None:
        settings, workspace = params.settings, ls.client_capabilities.workspace
        if settings is None and workspace is not None and workspace.configuration:
            asked = types.ConfigurationParams([types.ConfigurationItem(section="midfill")])
            (settings,) = await ls.workspace_configuration_async(asked)
        ls.configure(settings)
        ls.tell_complaints()
