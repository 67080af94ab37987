"""The fixtures of the language server's tests."""

from tests.lsp.conftest import engine, no_hanging, start_editor

__all__ = ["engine", "no_hanging", "start_editor"]
