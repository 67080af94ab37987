"""Packages that the scripts need, and those that are carried along. Owns: what is missing. Standard library only."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

NEEDED = (
    "torch",
    "transformers",
    "accelerate",
    "numpy",
    "attrs",
    "cattrs",
    "msgpack",
    "platformdirs",
    "psutil",
    "safetensors",
    "tokenizers",
)
FOR_TRAINING = ("peft", "matplotlib")
_LEAST_TRANSFORMERS = (5, 24)
_MODULES = {"attrs": "attr"}


@contextmanager
def wheels(folder: Path | None) -> Iterator[None]:
    """The packages of a folder of pure-Python wheels come before those that are installed, in child processes too."""
    if folder is None:
        yield
        return
    found = sorted(folder.glob("*.whl"))
    if not found:
        raise SystemExit(f"{folder} holds no wheels (*.whl)")
    with tempfile.TemporaryDirectory(prefix="wheels-") as into:
        for wheel in found:
            if not wheel.name.endswith("-none-any.whl"):
                raise SystemExit(
                    f"{wheel.name} is made for one kind of machine; only pure-Python wheels can be carried"
                )
            with zipfile.ZipFile(wheel) as file:
                file.extractall(into)
        sys.path.insert(0, into)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (into, os.environ.get("PYTHONPATH", ""))))
        yield


def missing(names: Sequence[str]) -> str:
    """What is missing, in one line; empty when all is there."""
    absent = [name for name in names if importlib.util.find_spec(_MODULES.get(name, name)) is None]
    if absent:
        return f"missing: {', '.join(absent)}; carry pure-Python wheels of them with --wheels FOLDER"
    version = importlib.metadata.version("transformers")
    if tuple(int(part) for part in version.split(".")[:2]) < _LEAST_TRANSFORMERS:
        least = ".".join(map(str, _LEAST_TRANSFORMERS))
        return f"transformers {version} is too old ({least} is needed); carry its wheel with --wheels FOLDER"
    return ""


def versions(names: Sequence[str]) -> dict[str, str]:
    """Of what is installed."""
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found
