"""The held-out packages: which ones, and how their files come here. Owns: versions, wheels, installed copies.

Reads archives and files; never imports or installs a package. Must not know: cases.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from engine.evaluation.rebuild import Source

HELD_OUT: Final = {
    "attrs": "26.1.0",
    "click": "8.5.1",
    "httpx": "0.28.1",
    "marshmallow": "4.4.0",
    "pluggy": "1.7.0",
    "starlette": "1.10.0",
    "tqdm": "4.70.1",
    "typer": "0.29.2",
}
"""Packages that the bundled model's training held out, at the versions that were looked at."""
_LONGEST_FILE: Final = 500_000
_SHORTEST_FILE: Final = 500


class PackageError(RuntimeError):
    """A package can't be had. The message says what was tried."""


def read_sources(places: Sequence[Path], cache: Path, wanted: dict[str, str] | None = None) -> list[Source]:
    """Python files of all `wanted` packages, from folders with wheels or installed packages, else from the index.

    What is fetched is kept in `cache`.
    """
    sources: list[Source] = []
    for package, version in (wanted or HELD_OUT).items():
        found = _installed(package, version, places) or _wheel(package, version, [*places, cache])
        if not found:
            _download(package, version, cache)
            found = _wheel(package, version, [cache])
        if not found:
            raise PackageError(f"no Python files found for {package} {version}")
        sources += found
    return sources


def sources_at_hand(places: Sequence[Path]) -> list[Source]:
    """Python files of those held-out packages that are installed or lie as wheels in `places`; fetches nothing."""
    sources: list[Source] = []
    for package, version in HELD_OUT.items():
        sources += _installed(package, version, places) or _wheel(package, version, places)
    return sources


def _installed(package: str, version: str, places: Iterable[Path]) -> list[Source]:
    folders = [str(place) for place in places if place.is_dir()]
    for distribution in metadata.distributions(name=package, path=folders):
        if distribution.version == version:
            files = [(str(f), Path(str(f.locate()))) for f in distribution.files or () if f.suffix == ".py"]
            return list(_usable(package, ((name, p.read_bytes()) for name, p in files if p.is_file())))
    return []


def _wheel(package: str, version: str, places: Iterable[Path]) -> list[Source]:
    for place in places:
        for file in sorted(place.glob(f"{package}-{version}-*.whl")) if place.is_dir() else [place]:
            if file.name.startswith(f"{package}-{version}-") and zipfile.is_zipfile(file):
                with zipfile.ZipFile(file) as archive:
                    names = [name for name in archive.namelist() if name.endswith(".py")]
                    return list(_usable(package, ((name, archive.read(name)) for name in names)))
    return []


def _download(package: str, version: str, cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    done = subprocess.run(
        [*pip, "--dest", str(cache), f"{package}=={version}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        told = done.stderr.strip().splitlines() or [f"pip left with code {done.returncode}"]
        raise PackageError(f"{package} {version} can't be fetched: {told[-1]}")


def _usable(package: str, files: Iterable[tuple[str, bytes]]) -> Iterator[Source]:
    for path, data in files:
        if not _SHORTEST_FILE <= len(data) <= _LONGEST_FILE or "/_vendor/" in path or path.startswith(".."):
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        yield Source(package, path, text.replace("\r\n", "\n"))
