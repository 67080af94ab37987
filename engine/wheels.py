"""Wheels of published packages, read as archives. Owns: finding, fetching and reading them.

Never imports or installs a package. Must not know: what is done with the files.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path


class PackageError(RuntimeError):
    """A package can't be had. The message says what was tried."""


def find_wheel(package: str, version: str, places: Iterable[Path]) -> Path | None:
    """The first wheel of this version; a place is a folder with wheels, or a wheel."""
    name = "[-_.]+".join(re.escape(part) for part in re.split("[-_.]+", package))
    fits = re.compile(rf"{name}-{re.escape(version)}-.*\.whl", re.IGNORECASE)
    for place in places:
        for file in sorted(place.iterdir()) if place.is_dir() else [place]:
            if fits.fullmatch(file.name) and zipfile.is_zipfile(file):
                return file
    return None


def fetch_wheel(package: str, version: str, cache: Path, wanted: Sequence[str] = ()) -> Path:
    """The wheel in `cache`; fetched when it is not there. `wanted`: pip's options that choose among wheels."""
    if (there := find_wheel(package, version, [cache])) is not None:
        return there
    cache.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", *wanted]
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
    if (fetched := find_wheel(package, version, [cache])) is None:
        raise PackageError(f"{package} {version} can't be fetched: pip brought no wheel that can be read")
    return fetched


def python_files(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each, in the archive's order. Raises `PackageError`."""
    with _opened(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield name, archive.read(name)


def wheel_metadata(wheel: Path) -> Message:
    """What the package states about itself. Raises `PackageError`."""
    with _opened(wheel) as archive:
        for name in archive.namelist():
            if name.count("/") == 1 and name.endswith(".dist-info/METADATA"):
                return HeaderParser().parsestr(archive.read(name).decode("utf-8", "replace"))
    raise PackageError(f"{wheel.name} states nothing about itself: it has no METADATA")


def wheel_sha256(wheel: Path) -> str:
    """Of the archive, as an index states it."""
    with wheel.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _opened(wheel: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(wheel) as archive:
            yield archive
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise PackageError(f"{wheel} can't be read ({error}); remove it, and it is fetched again") from error
