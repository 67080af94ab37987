"""Which message does what: one module for each group of messages, each with a `register(server)`.

Owns: the way from a message to the part that does the work, and nothing else. Must not know: how it is done.
"""

from __future__ import annotations

from lsp_server.features import acceptance, engine, fill, inline_completion, settings, sync
from lsp_server.server import MidfillServer

_FEATURES = (settings, sync, inline_completion, acceptance, fill, engine)


def make_server() -> MidfillServer:
    """A server with its features."""
    server = MidfillServer()
    for feature in _FEATURES:
        feature.register(server)
    return server
