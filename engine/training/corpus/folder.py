"""A corpus on disk: `manifest.json` and `texts.jsonl.gz`. Owns: those two files, and that they fit each other."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import cattrs

from engine.training.corpus.manifest import Manifest
from engine.training.corpus.source_text import SourceText

_MANIFEST: Final = "manifest.json"
_TEXTS: Final = "texts.jsonl.gz"
_CONVERTER: Final = cattrs.Converter()


class CorpusError(ValueError):
    """A corpus can't be built or used. The message names the cause and the fix."""


def encode(source: SourceText) -> bytes:
    """One line of the file of texts."""
    return json.dumps(attrs.asdict(source), ensure_ascii=False, sort_keys=True).encode() + b"\n"


class CorpusWriter:
    """Writes beside what is there and replaces it at the end, so that a folder never holds half a corpus.

    Raises `CorpusError` where the folder can't be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fresh = folder / (_TEXTS + ".new")
        self._digest = hashlib.sha256()
        with self._told():
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._fresh.open("wb")
        # no name and no time in the header: the same texts give the same bytes
        self._packed = gzip.GzipFile(filename="", mode="wb", fileobj=self._file, compresslevel=6, mtime=0)

    def __enter__(self) -> CorpusWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._packed, self._file):
            with contextlib.suppress(OSError):  # on a full disk closing fails too
                file.close()
        self._fresh.unlink(missing_ok=True)  # not there after `finish`

    def add(self, source: SourceText) -> bytes:
        """Write a text; gives back its line."""
        line = encode(source)
        with self._told():
            self._packed.write(line)
        self._digest.update(line)
        return line

    @property
    def sha256(self) -> str:
        """Of all lines so far."""
        return self._digest.hexdigest()

    def finish(self, manifest: Manifest) -> None:
        """Take the place of what was there."""
        told = json.dumps(_CONVERTER.unstructure(manifest), indent=2, ensure_ascii=False)
        fresh = self._folder / (_MANIFEST + ".new")
        with self._told():
            self._packed.close()
            self._file.close()
            fresh.write_text(told + "\n", encoding="utf-8")
            (self._folder / _MANIFEST).unlink(missing_ok=True)  # texts without a manifest are no corpus
            self._fresh.replace(self._folder / _TEXTS)
            fresh.replace(self._folder / _MANIFEST)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CorpusError(f"{self._folder} can't be written ({error.strerror or error})") from error


def read_manifest(folder: Path) -> Manifest:
    """What the corpus was made of. Raises `CorpusError`."""
    path = folder / _MANIFEST
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
        return _CONVERTER.structure(found, Manifest)
    except FileNotFoundError:
        raise CorpusError(f"{folder} holds no corpus: there is no {_MANIFEST}") from None
    except (OSError, ValueError, cattrs.BaseValidationError) as error:
        raise CorpusError(f"{path} can't be read ({type(error).__name__}); build the corpus again") from error


def read_corpus(folder: Path) -> Iterator[SourceText]:
    """All texts in the manifest's order, with those for validation. Raises `CorpusError`, before the first text."""
    manifest = read_manifest(folder)
    path = folder / _TEXTS
    digest = hashlib.sha256()
    try:
        with gzip.open(path) as lines:
            for line in lines:
                digest.update(line)
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"{path} can't be read ({error}); build the corpus again") from None
    if digest.hexdigest() != manifest.sha256:
        raise CorpusError(f"{path} is not what {_MANIFEST} says: its hash differs; build the corpus again")
    return _texts(path)


def _texts(path: Path) -> Iterator[SourceText]:
    with gzip.open(path) as lines:
        for line in lines:
            yield SourceText(**json.loads(line))
