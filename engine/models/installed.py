"""A pulled model's folder and the record in it. Owns: what "pulled and whole" means. Must not know: how it got there.

The record, `midfill.json`, is written last inside a hidden folder, which is then renamed: a folder with a record that
matches its files is whole, anything else is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import cattrs
from attrs import frozen

from engine.paths import models_dir

RECORD: Final = "midfill.json"
_CHUNK: Final = 4 * 1024 * 1024
_converter: Final = cattrs.Converter()


@frozen
class StoredFile:
    """One file of the folder, as it was when the folder was made."""

    n_bytes: int
    sha256: str


@frozen
class Record:
    """Where a pulled model came from."""

    name: str
    source: str
    """In words: where the file was fetched."""
    sha256: str
    """Of the file that was fetched, before conversion."""
    licence: str
    converted_with: str
    files: dict[str, StoredFile]


def folder_of(name: str) -> Path:
    """Where a model of this name lies once it is pulled."""
    return models_dir() / name


def read_record(folder: Path) -> Record | None:
    """The folder's record; None when there is none that can be read."""
    try:
        return _converter.structure(json.loads((folder / RECORD).read_text(encoding="utf-8")), Record)
    except (OSError, ValueError, cattrs.BaseValidationError):
        return None


def write_record(folder: Path, record: Record) -> None:
    """Write the record; the folder's other files must be there and on disk."""
    (folder / RECORD).write_text(json.dumps(_converter.unstructure(record), indent=2) + "\n", encoding="utf-8")


def damage(folder: Path, *, deep: bool = False) -> str:
    """What is wrong with a pulled folder, in words; empty when it is whole. `deep` reads every byte, too."""
    record = read_record(folder)
    if record is None:
        return f"{RECORD} is missing or unreadable"
    for name, stored in record.files.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if (n_bytes := path.stat().st_size) != stored.n_bytes:
            return f"{name} has {n_bytes} bytes instead of {stored.n_bytes}"
        if deep and sha256_of(path) != stored.sha256:
            return f"{name} has changed since it was pulled"
    return ""


def sha256_of(path: Path, on_bytes: Callable[[int], None] | None = None) -> str:
    """SHA-256 of a file, in hexadecimal; `on_bytes` hears how far it is."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            if on_bytes is not None:
                on_bytes(file.tell())
    return digest.hexdigest()
