"""What this server offers to a client. Owns: what is fixed at `initialize`, what is registered later and taken back.

Must not know: how it is done. Where a client lets a server register later, that is done once the settings are known, so
that nothing is offered that would be refused.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_server.abilities import Abilities
from lsp_server.config import ServerConfig

_log = logging.getLogger(__name__)

FILL_COMMAND = "midfill.fill"
RESTART_COMMAND = "midfill.restart"
STATUS_COMMAND = "midfill.status"


def trim(offered: types.ServerCapabilities, client: Abilities, config: ServerConfig) -> None:
    """Take out of the answer to `initialize` what this client can't use, does not want, or gets registered later."""
    if types.TEXT_DOCUMENT_INLINE_COMPLETION in client.registers:
        offered.inline_completion_provider = None
    if types.TEXT_DOCUMENT_COMPLETION in client.registers or not config.plain_completion:
        offered.completion_provider = None
    commands = [RESTART_COMMAND, STATUS_COMMAND]
    if client.takes_edits:
        commands.insert(0, FILL_COMMAND)
    else:
        offered.code_action_provider = None
    offered.execute_command_provider = types.ExecuteCommandOptions(commands)


def later(client: Abilities, config: ServerConfig, *, has_folders: bool) -> dict[str, Any]:
    """What is to be registered with these settings: the options of each method.

    Inline completion stays when completion while typing is off: what is asked for by hand works either way, and a
    request that is answered with nothing costs next to nothing.
    """
    wanted: dict[str, Any] = {
        types.TEXT_DOCUMENT_INLINE_COMPLETION: types.InlineCompletionRegistrationOptions(),
        types.WORKSPACE_DID_CHANGE_CONFIGURATION: types.DidChangeConfigurationRegistrationOptions(section="midfill"),
    }
    if config.plain_completion:
        wanted[types.TEXT_DOCUMENT_COMPLETION] = types.CompletionRegistrationOptions()
    if config.context and has_folders:
        watchers = [types.FileSystemWatcher("**/*")]
        wanted[types.WORKSPACE_DID_CHANGE_WATCHED_FILES] = types.DidChangeWatchedFilesRegistrationOptions(watchers)
    return {method: options for method, options in wanted.items() if method in client.registers}


class Registrations:
    """What the client has been asked to send."""

    def __init__(
        self,
        register: Callable[[types.RegistrationParams], Awaitable[object]],
        unregister: Callable[[types.UnregistrationParams], Awaitable[object]],
    ) -> None:
        self._register, self._unregister = register, unregister
        self._wanted: Mapping[str, Any] = {}
        self._held: dict[str, types.Registration] = {}
        self._work: asyncio.Task[None] | None = None

    def want(self, wanted: Mapping[str, Any]) -> None:
        """Bring the client there, one question at a time; the newest call wins."""
        self._wanted = wanted
        if self._work is None:
            self._work = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        try:
            while changes := self._changes():
                await changes
        except JsonRpcException as error:
            _log.warning("the client refused to register: %s", error)
        finally:
            self._work = None

    def _changes(self) -> Awaitable[object] | None:
        """The next question, if one is left to ask."""
        gone = [one for one in self._held.values() if self._wanted.get(one.method) != one.register_options]
        if gone:
            self._held = {method: one for method, one in self._held.items() if one not in gone}
            return self._unregister(types.UnregistrationParams([types.Unregistration(g.id, g.method) for g in gone]))
        new = [
            types.Registration(f"midfill-{uuid.uuid4()}", method, options)
            for method, options in self._wanted.items()
            if method not in self._held
        ]
        if new:
            self._held.update((one.method, one) for one in new)
            return self._register(types.RegistrationParams(new))
        return None
