"""Where scenarios take place: private folders, a scripted engine, and an editor for each kind of server.

Owns: their start and end. Must not know: scenarios' steps.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from lsprotocol import types

from tests.clients.desk import Desk
from tests.conformance.scenario import Kind
from tests.conftest import PrivateFolders
from tests.scripted_engine import ScriptedEngine


class House:
    """Use it as an async context manager."""

    def __init__(self, loaded: bool = True) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="mf", dir="/tmp"))  # a socket's path must be short
        self.folders = PrivateFolders(self.root / "run", self.root / "logs", self.root / "config.toml")
        self.folders.runtime.mkdir(mode=0o700)
        self.engine = ScriptedEngine(self.folders.endpoint, loaded=loaded)
        self._desks: dict[Kind, Desk] = {}

    async def __aenter__(self) -> House:
        self.engine.start()
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for desk in self._desks.values():
            await desk.stop()
        await self.engine.leave()
        self.folders.stop_processes()
        shutil.rmtree(self.root, ignore_errors=True)

    @property
    def environment(self) -> Mapping[str, str]:
        """For processes: nothing of the user's own is touched, and no model is loaded by mistake."""
        return {
            "MIDFILL_RUNTIME_DIR": str(self.folders.runtime),
            "MIDFILL_LOG_DIR": str(self.folders.logs),
            "MIDFILL_CONFIG": str(self.folders.config),
            "MIDFILL_CACHE_DIR": str(self.root / "cache"),
            "MIDFILL_MODEL": "/no/such/model",
        }

    async def desk(self, kind: Kind) -> Desk:
        """The editor of a kind, started when it is first asked for and when a scenario has broken the last one."""
        if (old := self._desks.get(kind)) is not None and (old.client.stopped or old.process.returncode is not None):
            await self._desks.pop(kind).stop()
        if kind not in self._desks:
            capabilities = types.ClientCapabilities(
                general=types.GeneralClientCapabilities(position_encodings=_encodings(kind)),
                workspace=types.WorkspaceClientCapabilities(
                    workspace_folders=True,
                    did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
                ),
            )
            self._desks[kind] = await Desk.start(
                options=json.loads(kind.settings),
                capabilities=capabilities,
                environment={**os.environ, **self.environment},
            )
        return self._desks[kind]


def _encodings(kind: Kind) -> list[types.PositionEncodingKind | str]:
    """What the client offers. One that the standard does not know is offered alone."""
    return [kind.encoding]
