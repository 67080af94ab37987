"""What the server may import: of the engine its protocol and client, and nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import lsp_server

FOLDER = Path(str(lsp_server.__file__)).parent
ALLOWED = {"engine.protocol", "engine.client", "engine.usage"}
INNER = {"core", "server", "scheduler", "transport", "denoisers", "models", "commands", "evaluation"}
HEAVY = {"torch", "transformers", "numpy", "tokenizers", "safetensors", "huggingface_hub", "gguf", "psutil", "typer"}


def imported(path: Path) -> set[str]:
    """All modules that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_sources_keep_the_direction() -> None:
    paths = sorted(FOLDER.rglob("*.py"))
    assert len(paths) > 10
    for path in paths:
        names = imported(path)
        assert {name for name in names if name.split(".")[0] == "engine"} <= ALLOWED, path
        assert not {name.split(".")[0] for name in names} & (HEAVY - {"psutil"}), path


def test_nothing_heavy_is_loaded() -> None:
    modules = ["lsp_server.main", "lsp_server.features"]
    code = f"import sys, {', '.join(modules)}; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    loaded = set(told.stdout.split())
    assert "lsp_server.server" in loaded
    assert not {name.split(".")[0] for name in loaded} & HEAVY
    assert not {name.split(".")[1] for name in loaded if name.startswith("engine.")} & INNER
