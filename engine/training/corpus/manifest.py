"""What a corpus was made of. Owns: the record's shape. Must not know: how a corpus is built."""

from __future__ import annotations

import enum
from collections import Counter

from attrs import frozen


class Dropped(enum.StrEnum):
    """Why a file is not in the corpus."""

    LICENCE = "licence not permissive"
    VENDORED = "another package's file"
    TEST_DATA = "data of tests"
    SIZE = "too short or too long"
    ENCODING = "not UTF-8"
    GENERATED = "generated"
    TABLE = "data table"
    SYNTAX = "does not parse"
    HELD_OUT = "held out"
    """Equal to a held-out package's file, or made of its lines."""
    BENCHMARK = "HumanEval"
    COPY = "copy"
    NEAR_COPY = "nearly a copy"
    FULL = "package has its share"


@frozen
class HeldOut:
    """A package whose contents were kept out."""

    name: str
    version: str
    wheel_sha256: str


@frozen
class PackageEntry:
    """A package, and what came of it."""

    name: str
    version: str
    licence: str
    """As its metadata states it."""
    wheel: str
    wheel_sha256: str
    n_files: int
    n_bytes: int
    texts_sha256: str
    """Of this package's lines in the file of texts."""
    dropped: dict[Dropped, int]


@frozen
class Manifest:
    """A corpus."""

    python: str
    """The version that parsed the files: another one may take a file that this one can't read."""
    packages: tuple[PackageEntry, ...]
    held_out: tuple[HeldOut, ...]
    humaneval_sha256: str | None
    """Of the data set that was kept out; None: it was not at hand, and nothing was looked for."""
    n_files: int
    n_bytes: int
    n_validation: int
    """Files kept for validation, of `n_files`."""
    sha256: str
    """Of the whole file of texts, uncompressed: two corpora with the same one are the same."""

    @property
    def dropped(self) -> Counter[Dropped]:
        """Of all packages."""
        return sum((Counter(package.dropped) for package in self.packages), Counter())
