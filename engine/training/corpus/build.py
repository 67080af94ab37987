"""Builds a corpus. Owns: the order of the looks at a file, what is known of files before it, a package's share.

The same packages, held-out packages and HumanEval files give the same corpus, byte for byte.
"""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from engine.held_out import HELD_OUT, RESERVED
from engine.training.corpus.benchmark import Benchmark, BenchmarkError
from engine.training.corpus.fitness import decoded, unfit_place, unfit_text, unfit_tree
from engine.training.corpus.folder import CorpusError, CorpusWriter
from engine.training.corpus.known_lines import KnownLines
from engine.training.corpus.licence import is_permissive, stated_licence
from engine.training.corpus.manifest import Dropped, HeldOut, Manifest, PackageEntry
from engine.training.corpus.packages import PACKAGES, WANTED_WHEELS
from engine.training.corpus.source_text import SourceText
from engine.training.corpus.unseen import Unseen
from engine.wheels import fetch_wheel, python_files, wheel_metadata, wheel_sha256

MOST: Final = 5_000_000
"""Bytes of one package, so that the corpus does not speak its dialect."""
_COPY_SHARE: Final = 0.7


@frozen
class Progress:
    """How far a build is."""

    package: str
    """Begun now; empty at the end."""
    n_done: int
    """Packages, held-out ones first."""
    n_packages: int
    n_files: int
    """Kept so far."""
    n_bytes: int


def build_corpus(
    folder: Path,
    cache: Path,
    *,
    packages: Mapping[str, str] = PACKAGES,
    held_out: Mapping[str, str] = HELD_OUT | RESERVED,
    humaneval: Path | None = None,
    most: int = MOST,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Manifest:
    """Build it into `folder`, in place of the corpus there; wheels are kept in `cache`.

    `humaneval`: the folder of the data set's files. `most`: bytes of one package.
    Raises `CorpusError`, or `PackageError` when a package can't be fetched.
    """
    if both := {_name(one) for one in packages} & {_name(one) for one in held_out}:
        raise CorpusError(f"{', '.join(sorted(both))}: held out, so not for the corpus; leave it out of the packages")
    try:
        benchmark = Benchmark.read(humaneval) if humaneval else None
    except BenchmarkError as error:
        raise CorpusError(str(error)) from None
    total = len(held_out) + len(packages)
    unseen = Unseen(benchmark)
    kept_out: list[HeldOut] = []
    for name, version in held_out.items():
        tell(Progress(name, len(kept_out), total, 0, 0))
        wheel = fetch_wheel(name, version, cache, WANTED_WHEELS)
        unseen.add(name, wheel)
        kept_out.append(HeldOut(name, version, wheel_sha256(wheel)))

    with CorpusWriter(folder) as writer:
        build = _Build(unseen, writer, cache, most)
        for name, version in packages.items():
            n_done = len(kept_out) + len(build.entries)
            tell(Progress(name, n_done, total, build.n_files, build.n_bytes))
            build.take(name, version)
        manifest = Manifest(
            python=".".join(platform.python_version_tuple()[:2]),
            packages=tuple(build.entries),
            held_out=tuple(kept_out),
            humaneval_sha256=benchmark.sha256 if benchmark else None,
            n_files=build.n_files,
            n_bytes=build.n_bytes,
            n_validation=build.n_validation,
            sha256=writer.sha256,
        )
        writer.finish(manifest)
    tell(Progress("", total, total, build.n_files, build.n_bytes))
    return manifest


class _Build:
    """The corpus so far."""

    def __init__(self, unseen: Unseen, writer: CorpusWriter, cache: Path, most: int) -> None:
        self.writer = writer
        self.entries: list[PackageEntry] = []
        self.n_files = self.n_bytes = self.n_validation = 0
        self._unseen, self._cache, self._most = unseen, cache, most
        self._texts: set[str] = set()
        self._lines = KnownLines()

    def take(self, name: str, version: str) -> None:
        """Add a package."""
        wheel = fetch_wheel(name, version, self._cache, WANTED_WHEELS)
        licence = stated_licence(wheel_metadata(wheel))
        dropped: Counter[Dropped] = Counter()
        kept: list[SourceText] = []
        if is_permissive(licence):
            kept = self._kept(self._fit(name, wheel, dropped), dropped)
        else:
            dropped[Dropped.LICENCE] = sum(1 for _ in python_files(wheel))
        digest, n_bytes = hashlib.sha256(), 0
        for source in kept:
            digest.update(self.writer.add(source))
            n_bytes += len(source.text.encode())
        self.n_files += len(kept)
        self.n_bytes += n_bytes
        self.n_validation += sum(source.for_validation for source in kept)
        told = {reason: dropped[reason] for reason in Dropped if dropped[reason]}
        self.entries.append(
            PackageEntry(
                *(name, version, licence, wheel.name, wheel_sha256(wheel), len(kept), n_bytes, digest.hexdigest(), told)
            )
        )

    def _fit(self, name: str, wheel: Path, dropped: Counter[Dropped]) -> list[SourceText]:
        """Files of a wheel that are fit by themselves."""
        found: list[SourceText] = []
        for path, data in python_files(wheel):
            text = unfit_place(path) or decoded(data)
            reason = text if isinstance(text, Dropped) else unfit_text(text)
            if reason:
                dropped[reason] += 1
            else:
                found.append(SourceText(name, path, text))
        return found

    def _kept(self, found: Sequence[SourceText], dropped: Counter[Dropped]) -> list[SourceText]:
        """Those that say something new, up to the package's share; tests come last, for they repeat themselves."""
        kept: list[SourceText] = []
        left = self._most
        for source in sorted(found, key=lambda one: (_is_test(one.path), one.sha256, one.path)):
            size = len(source.text.encode())
            reason = (
                (Dropped.COPY if source.sha256 in self._texts else None)
                or self._unseen.why_not(source)
                or (Dropped.NEAR_COPY if self._lines.share(source.text) > _COPY_SHARE else None)
                or (Dropped.FULL if size > left else None)
                or unfit_tree(source.text)
            )
            if reason:
                dropped[reason] += 1
                continue
            left -= size
            self._texts.add(source.sha256)
            self._lines.add(source.text)
            kept.append(source)
        return sorted(kept, key=lambda one: one.path)


def _is_test(path: str) -> bool:
    folders, _, name = path.rpartition("/")
    return name.startswith(("test_", "conftest")) or not {"test", "tests", "testing"}.isdisjoint(folders.split("/"))


def _name(package: str) -> str:
    return package.lower().replace("_", "-").replace(".", "-")
