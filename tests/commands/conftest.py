"""The real console script, run as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MIDFILL = str(Path(sys.executable).with_name("midfill"))
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def midfill(tmp_path: Path) -> Run:
    """Runs `midfill` with arguments, in the test's folder, to its end."""

    def run(*arguments: object, timeout_s: float = 240) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [MIDFILL, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    return run
