"""The held-out packages' files. Owns: where they are looked for, and which of them are used.

Reads archives and files; never imports or installs a package. Must not know: cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from engine.evaluation.rebuild import Source
from engine.held_out import HELD_OUT
from engine.wheels import PackageError, fetch_wheel, find_wheel, python_files

_LONGEST_FILE: Final = 500_000
_SHORTEST_FILE: Final = 500


def read_sources(places: Sequence[Path], cache: Path, wanted: dict[str, str] | None = None) -> list[Source]:
    """Python files of all `wanted` packages, from folders with wheels or installed packages, else from the index.

    What is fetched is kept in `cache`.
    """
    sources: list[Source] = []
    for package, version in (wanted or HELD_OUT).items():
        found = _installed(package, version, places) or _wheel(package, version, [*places, cache])
        if not found:
            found = _wheel(package, version, [fetch_wheel(package, version, cache)])
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
    wheel = find_wheel(package, version, places)
    return list(_usable(package, python_files(wheel))) if wheel else []


def _usable(package: str, files: Iterable[tuple[str, bytes]]) -> Iterator[Source]:
    for path, data in files:
        if not _SHORTEST_FILE <= len(data) <= _LONGEST_FILE or "/_vendor/" in path or path.startswith(".."):
            continue
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            continue
        yield Source(package, path, text.replace("\r\n", "\n"))
