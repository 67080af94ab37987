"""A data folder is small, chosen by its seed, and of the training's own formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gpu_runs.data import Data
from gpu_runs.pack import PackError, pack

from engine.models.catalog import BUNDLED_DIR
from engine.training.examples import ExampleSet
from engine.training.token_shard import TokenShard
from tests.scripts.conftest import Made


def packed(made: Made, folder: Path, most: int = 150_000, seed: int = 0) -> Data:
    pack(folder, made.adapt, made.tiny, made.tokens, None, most, seed)
    return Data(folder)


def test_it_has_the_size_that_was_asked_for(made: Made, tmp_path: Path) -> None:
    data = packed(made, tmp_path)
    assert data.missing() == []
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 155_000  # headers are small
    assert 20 < len(ExampleSet.open(data.adapt)) < 120


def test_packed_examples_are_examples_of_the_set(made: Made, tmp_path: Path) -> None:
    data = packed(made, tmp_path)
    all_of_them, some = ExampleSet.open(made.tiny), ExampleSet.open(data.tiny)
    some.check(BUNDLED_DIR)

    def key(examples: ExampleSet, i: int) -> tuple[bytes, bytes, bytes, str]:
        one = examples[i]
        return one.prompt.tobytes(), one.middle.tobytes(), one.near.tobytes(), str(one.kind)

    known = {key(all_of_them, i) for i in range(len(all_of_them))}
    assert {key(some, i) for i in range(len(some))} <= known
    assert some.fingerprint != all_of_them.fingerprint


def test_packed_texts_are_whole(made: Made, tmp_path: Path) -> None:
    whole, some = TokenShard.open(made.tokens), TokenShard.open(packed(made, tmp_path).tokens)
    assert some.tokenizer == whole.tokenizer
    end = whole.tokens[-1]
    texts, wanted = (
        {part.tobytes() for part in np.split(shard.tokens, np.flatnonzero(shard.tokens == end) + 1)[:-1]}
        for shard in (some, whole)
    )
    assert texts and texts < wanted


def test_the_same_seed_chooses_the_same(made: Made, tmp_path: Path) -> None:
    chosen = [packed(made, tmp_path / str(i), seed=seed) for i, seed in enumerate((0, 0, 1))]
    first, same, other = (
        [
            *(ExampleSet.open(file).fingerprint for file in (data.adapt, data.tiny)),
            TokenShard.open(data.tokens).fingerprint,
        ]
        for data in chosen
    )
    assert first == same
    assert not set(first) & set(other)


def test_what_is_not_there_is_named(made: Made, tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"nowhere\.safetensors"):
        pack(tmp_path, made.adapt, made.tiny, tmp_path / "nowhere.safetensors", None, 10**6, 0)
