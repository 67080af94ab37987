"""Which message does what: one module for each group of messages, each with a `register(server)`.

Owns: the way from a message to the part that does the work, and nothing else. Must not know: how it is done.
"""

from __future__ import annotations

from lsp_server.features import (
    acceptance,
    commands,
    engine,
    fill,
    inline_completion,
    plain_completion,
    settings,
    sync,
    workspace,
)
from lsp_server.server import MidfillServer

_FEATURES = (settings, workspace, sync, inline_completion, plain_completion, acceptance, fill, commands, engine)


def make_server() -> MidfillServer:
    """A server with its features."""
    server = MidfillServer()
    for feature in _FEATURES:
        feature.register(server)
    return server
