"""A data folder as `gpu_train` takes it, made of this project's own sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import frozen
from gpu_runs.models import save_causal

from engine.models.catalog import BUNDLED_DIR
from engine.training.examples import ExampleSettings, write_examples
from engine.training.token_shard import write_tokens

ROOT = Path(__file__).parents[2]


@frozen
class Source:
    """One file."""

    package: str
    path: str
    text: str


@frozen
class Made:
    """What is made for training at home."""

    base: Path
    """A small causal model."""
    adapt: Path
    tiny: Path
    tokens: Path


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    root = tmp_path_factory.mktemp("made")
    (root / "base").mkdir()
    save_causal(root / "base")
    files = sorted((ROOT / "engine" / "denoisers").glob("*.py"))
    sources = [Source("engine", file.name, file.read_text(encoding="utf-8")) for file in files]
    for name, checkpoint in (("adapt", root / "base"), ("tiny", BUNDLED_DIR)):
        settings = ExampleSettings(prompt_tokens=96, middle_tokens=24)
        write_examples(sources, checkpoint, root / f"{name}.safetensors", 120, settings)
        write_examples(sources, checkpoint, root / f"{name}-valid.safetensors", 8, settings)
    write_tokens((source.text for source in sources), BUNDLED_DIR, 4096, root / "tokens.safetensors")
    return Made(root / "base", *(root / f"{name}.safetensors" for name in ("adapt", "tiny", "tokens")))
