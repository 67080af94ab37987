"""Examples in one file. Owns: the file's format, and how a corpus becomes one: the same inputs give the same bytes.

A ragged table in safetensors: for each field all tokens behind each other, and where each example's begin. The file is
mapped, not read, so that a set may be larger than memory.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from engine.training.code_lines import CodeLines
from engine.training.hole_tokens import Example, ExampleError, HoleTokens
from engine.training.holes import HoleKind, HoleShares, cut
from engine.training.related import Related, Source
from engine.training.token_shard import tokenizer_hash

__all__ = ["Example", "ExampleError", "ExampleSet", "ExampleSettings", "write_examples"]

_FIELDS: Final = ("prompt", "middle", "near")
_KEY: Final = "midfill"
_TRIES: Final = 6
_ROUNDS: Final = 8
_OVER: Final = 1.1
"""Holes that are asked for per example: some have no room."""
_MOST_CHARACTERS: Final = 60_000
"""A longer file counts as if it had these: one file must not be what is learnt."""


@attrs.frozen
class ExampleSettings:
    """How examples are made."""

    seed: int = 0
    prompt_tokens: int = 192
    """Longest prompt."""
    middle_tokens: int = 128
    """Longest middle."""
    snippets: float = attrs.field(default=0.25, validator=[attrs.validators.ge(0.0), attrs.validators.le(1.0)])
    """Share of examples that are offered snippets of other files, where there are any."""
    shares: HoleShares = attrs.field(factory=HoleShares)


class ExampleSet:
    """Examples of a file."""

    def __init__(self, file: Any, name: str) -> None:
        """`file`: an open safetensors file. `name`: for messages. Raises `ExampleError`."""
        self._file, self._name = file, name
        try:
            self.told: Mapping[str, Any] = json.loads((file.metadata() or {})[_KEY])
            """How they were made: model, tokenizer, corpus, settings."""
            self.fingerprint = str(self.told["fingerprint"])
            """SHA-256 of the contents."""
            self._starts = {field: file.get_tensor(f"{field}_starts") for field in _FIELDS}
            self._tokens = {field: file.get_slice(field) for field in _FIELDS}
            self._kinds = [self.told["kinds"][number] for number in file.get_tensor("kinds")]
        except (KeyError, IndexError, ValueError, TypeError, safetensors.SafetensorError) as error:
            raise ExampleError(f"{name} does not hold examples ({error}); make it anew") from None

    @classmethod
    def open(cls, path: Path) -> ExampleSet:
        """A file of `write_examples`. Raises `ExampleError`."""
        try:
            return cls(safetensors.safe_open(path, framework="numpy"), str(path))
        except FileNotFoundError:
            raise ExampleError(f"there are no examples at {path}") from None
        except (OSError, safetensors.SafetensorError) as error:
            raise ExampleError(f"{path} can't be read as examples ({error}); make it anew") from None

    def check(self, checkpoint: Path) -> None:
        """Raises `ExampleError` when they were made with another tokenizer than the one in this folder."""
        try:
            fits = tokenizer_hash(checkpoint) == self.told.get("tokenizer")
        except OSError as error:
            raise ExampleError(f"{checkpoint} has no tokenizer ({error.strerror})") from None
        if not fits:
            raise ExampleError(
                f"{self._name} was made for {self.told.get('model')}, whose tokenizer is another than the one in"
                f" {checkpoint}; make examples for this model"
            )

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, index: int) -> Example:
        kind = self._kinds[index]
        at = index % len(self._kinds)
        return Example(**{field: self._of(field, at) for field in _FIELDS}, kind=kind)

    def _of(self, field: str, index: int) -> NDArray[np.uint32]:
        first, after = self._starts[field][index : index + 2]
        found: NDArray[np.uint32] = self._tokens[field][int(first) : int(after)]
        return found


def write_examples(
    corpus: Iterable[Source],
    checkpoint: Path,
    out: Path,
    n: int,
    settings: ExampleSettings,
    tell: Callable[[int], None] = lambda n: None,
) -> int:
    """Make `n` examples of a corpus for the model in `checkpoint`; returns how many there are.

    `tell` takes the number of examples so far. Fewer come only of a corpus that is too small. Raises `ExampleError`.
    """
    sources = list(corpus)
    maker = ExampleMaker(checkpoint, sources, settings)
    examples: list[Example] = []
    for first, after in _rounds(sources, n):
        for number, (start, end) in enumerate(zip(first, after, strict=True)):
            examples += maker.of_file(number, range(start, end))
            tell(min(n, len(examples)))
        if len(examples) >= n:
            break
    order = np.random.default_rng(settings.seed).permutation(len(examples))[:n]
    chosen = [examples[i] for i in order]
    _write(chosen, checkpoint, sources, settings, out)
    return len(chosen)


class ExampleMaker:
    """Makes any example of a corpus, alone and again: by file, and a number that counts up in each."""

    def __init__(self, checkpoint: Path, sources: Sequence[Source], settings: ExampleSettings) -> None:
        self._tokens = HoleTokens(checkpoint, settings.prompt_tokens, settings.middle_tokens)
        self._sources, self._settings = sources, settings
        self._packages: dict[str, list[Source]] = {}
        for source in sources:
            self._packages.setdefault(source.package, []).append(source)
        self._related: tuple[str, Related] | None = None
        """Of the package in hand."""

    def of_file(self, number: int, indexes: Iterable[int]) -> Iterator[Example]:
        """Examples of file `number`; those that have no room are left out."""
        wanted = list(indexes)
        if wanted:
            source = self._sources[number]
            lines = CodeLines.of(source.text)
            for index in wanted:
                rng = random.Random(f"{self._settings.seed}:{source.package}/{source.path}:{index}")
                if (example := self._make(source, lines, rng)) is not None:
                    yield example

    def _make(self, source: Source, lines: CodeLines, rng: random.Random) -> Example | None:
        kind = self._settings.shares.draw(rng)
        size = rng.randrange(len(self._tokens.sizes))
        quotes = rng.random() < self._settings.snippets and self._tokens.quotes
        for _ in range(_TRIES):
            hole = cut(lines, source.path, kind, rng)
            if hole is None:
                break
            snippets = self._in_package(source.package).snippets(hole) if quotes else ()
            example = self._tokens.make(hole, len(self._tokens.sizes) - 1 if snippets else size, snippets)
            if example is not None:
                return example
        return None

    def _in_package(self, package: str) -> Related:
        if self._related is None or self._related[0] != package:
            self._related = package, Related(self._packages[package])
        return self._related[1]


def _rounds(sources: Sequence[Source], n: int) -> Iterator[tuple[list[int], list[int]]]:
    """For each round and file the numbers to make, first and last: as many as its share of the text."""
    sizes = np.array([min(len(source.text), _MOST_CHARACTERS) for source in sources], dtype=np.float64)
    if not sizes.sum():
        return
    ends = np.floor(np.cumsum(sizes) * (n * _OVER / sizes.sum()) + 0.5).astype(int)
    counts = np.maximum(np.diff(ends, prepend=0), 0)
    for number in range(_ROUNDS):
        yield (counts * number).tolist(), (counts * (number + 1)).tolist()


def _write(
    examples: Sequence[Example], checkpoint: Path, sources: Sequence[Source], settings: ExampleSettings, out: Path
) -> None:
    kinds = [str(kind) for kind in HoleKind]
    tensors: dict[str, NDArray[Any]] = {"kinds": np.array([kinds.index(e.kind) for e in examples], dtype=np.uint8)}
    for field in _FIELDS:
        parts = [getattr(example, field) for example in examples]
        starts = list(itertools.accumulate(map(len, parts), initial=0))
        tensors[field] = np.concatenate([np.zeros(0, np.uint32), *parts])
        tensors[f"{field}_starts"] = np.array(starts, dtype=np.int64)
    told = {
        "model": _name(checkpoint),
        "tokenizer": tokenizer_hash(checkpoint),
        "corpus": _hash(part for source in sources for part in _parts(source)),
        "fingerprint": _hash(tensors[name].tobytes() for name in sorted(tensors)),
        "kinds": kinds,
        "settings": attrs.asdict(settings),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = out.with_name(out.name + ".new")
    # one entry: the library writes several in any order, and the same examples must give the same bytes
    safetensors.numpy.save_file(tensors, fresh, metadata={_KEY: json.dumps(told)})
    fresh.replace(out)


def _parts(source: Source) -> Iterator[bytes]:
    for part in (source.package, source.path, source.text):
        data = part.encode("utf-8", "surrogatepass")
        yield len(data).to_bytes(8, "little")
        yield data


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _name(checkpoint: Path) -> str:
    file = checkpoint / "midfill.json"
    stated = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return str(stated.get("name") or checkpoint.name)
