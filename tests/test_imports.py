"""Imports run one way: what the engine's parts may import, and what must stay out of them.

The server's side is held by tests/lsp/test_imports.py.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "transformers")
MAY_IMPORT_TORCH = (
    "engine/denoisers/",
    "engine/evaluation/",
    "engine/bench",
    "engine/training/",
    "engine/commands/train",
)
FOR_TRAINING = ("peft", "matplotlib")


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def test_torch_is_imported_below_the_denoisers_only() -> None:
    for file in sources("engine"):
        place = file.relative_to(ROOT).as_posix()
        if not place.startswith(MAY_IMPORT_TORCH):
            heavy = {name for name in imported(file) if name.split(".")[0] in HEAVY}
            assert not heavy or place in ("engine/models/convert.py", "engine/commands/checkup.py"), f"{place}: {heavy}"


def test_serving_needs_nothing_of_training() -> None:
    for file in [*sources("engine"), *sources("lsp_server")]:
        place = file.relative_to(ROOT).as_posix()
        if not place.startswith(("engine/training/", "engine/commands/train")):
            known = {name for name in imported(file) if name.startswith("engine.training")}
            extra = {name for name in imported(file) if name.split(".")[0] in FOR_TRAINING}
            assert not known and not extra, f"{place}: {known | extra}"


def test_nothing_that_is_installed_imports_the_scripts() -> None:
    for file in [*sources("engine"), *sources("lsp_server")]:
        assert not {name for name in imported(file) if name.split(".")[0] == "gpu_runs"}, file


def test_the_engine_does_not_know_the_server() -> None:
    for file in sources("engine"):
        known = {name for name in imported(file) if name.split(".")[0] in ("lsp_server", "pygls", "lsprotocol")}
        if file.parent.name == "commands":  # the outermost part: it shows texts as the server does
            known = {name for name in known if not name.startswith("lsp_server.shaping")}
        assert not known, file


@pytest.mark.parametrize(
    ("module", "kept_out"),
    [
        ("engine.protocol", ("torch", "zmq", "transformers", "numpy")),
        ("engine.client", ("torch", "transformers", "numpy")),
        ("engine.commands", ("torch", "transformers")),
    ],
)
def test_what_a_module_pulls_in(module: str, kept_out: tuple[str, ...]) -> None:
    code = f"import {module}, sys; print([m for m in {kept_out!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=True)
    assert done.stdout.strip() == "[]"
