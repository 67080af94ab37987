"""Where the stage's own assertions are told in full."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.conformance.stage", "tests.conformance.checks", "tests.conformance.buffer")
