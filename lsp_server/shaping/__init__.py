"""Making a model's answer fit for its place in a document; pure functions over text."""

from lsp_server.shaping.place import Place
from lsp_server.shaping.reasons import why_not
from lsp_server.shaping.shape import shape, shaped_text
from lsp_server.shaping.syntax_check import SyntaxCheck

__all__ = ["Place", "SyntaxCheck", "shape", "shaped_text", "why_not"]
