"""The client's settings, abilities and process: at the start, and when they change.

Later settings stand over earlier ones: `initializationOptions`, then what the client answers to
`workspace/configuration` or pushes by `workspace/didChangeConfiguration`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_server.abilities import Abilities
from lsp_server.features.workspace import folders_of
from lsp_server.server import MidfillServer

_log = logging.getLogger(__name__)
_PATIENCE_S: Final = 5.0
"""A client that answers later than this to a question about its settings has none."""


def register(server: MidfillServer) -> None:
    """Add the handlers."""
    layers: list[object] = [None, None]
    """Given at the start; told last."""

    @server.feature(types.INITIALIZE)
    def initialize(ls: MidfillServer, params: types.InitializeParams) -> None:
        layers[:] = [params.initialization_options, None]
        ls.client = Abilities.of(params.capabilities)
        ls.configure(*layers)
        ls.set_folders(folders_of(params))
        if types.WORKSPACE_DID_CHANGE_WATCHED_FILES not in ls.client.registers:
            ls.context.watch_files()
        if params.process_id is not None:
            ls.on_parent(params.process_id)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: MidfillServer, params: types.InitializedParams) -> None:
        if ls.client.tells_settings:
            layers[1] = await _asked(ls, layers[1])
            ls.configure(*layers)
        ls.tell_complaints()
        ls.offer()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(ls: MidfillServer, params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        if not settings and ls.client.tells_settings:  # the client says only that something has changed
            settings = await _asked(ls, layers[1])
        layers[1] = settings
        ls.configure(*layers)
        ls.tell_complaints()
        ls.offer()


async def _asked(ls: MidfillServer, before: object) -> object:
    """What the client says when it is asked; what it said `before` when it does not answer."""
    question = types.ConfigurationParams([types.ConfigurationItem(section="midfill")])
    try:
        async with asyncio.timeout(_PATIENCE_S):
            answers = await ls.workspace_configuration_async(question)
    except (TimeoutError, JsonRpcException) as error:
        _log.warning("no settings from the client: %s", type(error).__name__)
        return before
    return answers[0] if answers else None
