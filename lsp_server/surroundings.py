"""What a fill is made with besides its document. Owns: the questions. Must not know: who answers them."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from engine.protocol import Snippet
from lsp_server.config import ServerConfig
from lsp_server.documents import Document
from lsp_server.outcomes import Nothing
from lsp_server.positions import Point


@frozen
class Surroundings:
    """Asked at each fill, so they answer at once."""

    config: Callable[[], ServerConfig]
    snippets: Callable[[Document, Point], tuple[Snippet, ...]]
    why_excluded: Callable[[Document], Nothing | None]
    """Why a document is left alone; None: it is not."""
