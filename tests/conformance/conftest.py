"""Where the stage's own assertions are told in full; editors and engines for tests that are no scenarios."""

from __future__ import annotations

import pytest

from tests.lsp.conftest import engine, start_editor

__all__ = ["engine", "start_editor"]

pytest.register_assert_rewrite("tests.conformance.stage", "tests.conformance.checks", "tests.conformance.buffer")
