"""The wire's own memory: of what has been handled nothing is kept."""

from __future__ import annotations

import asyncio
from typing import Any

from lsp_server.features import make_server
from tests.conftest import PrivateFolders
from tests.lsp.editor import URI


class Answers:
    """A writer that lets everything go."""

    n_written = 0

    def write(self, data: bytes) -> None:
        """Count."""
        self.n_written += 1

    def close(self) -> None:
        """Nothing is open."""


async def test_handled_messages_are_forgotten(private_folders: PrivateFolders) -> None:
    wire = make_server().protocol
    answers = Answers()
    wire.set_writer(answers)

    def receive(method: str, params: Any, **more: Any) -> None:
        wire.handle_message(wire.structure_message({"jsonrpc": "2.0", "method": method, "params": params, **more}))

    receive("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1)
    receive("initialized", {})
    item = {"uri": URI, "languageId": "python", "version": 1, "text": ""}
    for version in range(1, 21):
        receive("textDocument/didOpen", {"textDocument": item})
        change = {"text": "x" * version}
        receive(
            "textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [change]}
        )
        receive("midfill/status", None, id=100 + version)
        receive("textDocument/didClose", {"textDocument": {"uri": URI}})
        receive("workspace/didChangeConfiguration", {"settings": {}})
    while len(asyncio.all_tasks()) > 1:
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(0)
    assert answers.n_written >= 21
    assert wire._request_futures == {}
