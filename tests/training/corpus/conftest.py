"""Wheels made up in the test."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest


class WheelMaker(Protocol):
    """Writes a wheel into the cache."""

    def __call__(self, name: str, files: Mapping[str, str | bytes], licence: str = "MIT") -> Path: ...


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The folder of wheels."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


@pytest.fixture
def make_wheel(cache: Path) -> WheelMaker:
    """Version 1.0 of a package."""

    def make(name: str, files: Mapping[str, str | bytes], licence: str = "MIT") -> Path:
        path = cache / f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            for file, content in files.items():
                wheel.writestr(f"{name}/{file}", content)
            told = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nLicense-Expression: {licence}\n"
            wheel.writestr(f"{name}-1.0.dist-info/METADATA", told)
        return path

    return make
