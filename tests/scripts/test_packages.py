"""Wheels that are carried along."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from gpu_runs.packages import missing, wheels

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(autouse=True)
def unchanged_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("PYTHONPATH", "")


def wheel(folder: Path, tag: str = "py3-none-any") -> None:
    with zipfile.ZipFile(folder / f"carriedalong-1.0-{tag}.whl", "w") as file:
        file.writestr("carriedalong/__init__.py", "")


def test_carried_wheels_can_be_imported(tmp_path: Path) -> None:
    wheel(tmp_path)
    assert "missing: carriedalong" in missing(["carriedalong"])
    with wheels(tmp_path):
        assert missing(["carriedalong"]) == ""
        assert importlib.util.find_spec("carriedalong") is not None


def test_compiled_wheels_are_refused(tmp_path: Path) -> None:
    wheel(tmp_path, "cp311-cp311-manylinux_2_28_x86_64")
    with pytest.raises(SystemExit, match="pure-Python"), wheels(tmp_path):
        pass


def test_a_folder_without_wheels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no wheels"), wheels(tmp_path):
        pass


def test_scripts_begin_without_torch() -> None:
    """A machine that lacks something is told so at once; and only sections pay for what they import."""
    code = (
        "import gpu_runs.check, gpu_runs.train, sys; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    path = [str(SCRIPTS), str(SCRIPTS.parent)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path}; {code}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
