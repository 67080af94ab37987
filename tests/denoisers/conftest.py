"""Loaded tiny and bundled models, once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import engine.denoisers  # noqa: F401  (sets torch's threads to sleep before torch is imported)
from engine.config import EngineConfig
from engine.denoisers.denoiser import Denoiser
from engine.models.resolve import resolve

Open = Callable[..., Denoiser]


@pytest.fixture(scope="session")
def load() -> Open:
    """Load a checkpoint folder in this process."""
    from engine.denoisers.loading import load_denoiser

    def loaded(model: str | Path, **settings: object) -> Denoiser:
        config = EngineConfig(**settings)  # type: ignore[arg-type]
        return load_denoiser(resolve(str(model)), config, lambda stage, fraction: None)

    return loaded


@pytest.fixture(scope="session")
def bundled(load: Open) -> Denoiser:
    """The bundled model in float32."""
    return load("bundled")


@pytest.fixture(scope="session")
def tiny_gemma(load: Open, tmp_path_factory: pytest.TempPathFactory) -> Denoiser:
    """Sliding window of 16, four experts, random weights."""
    from tests.denoisers import tiny

    folder = tmp_path_factory.mktemp("gemma")
    tiny.gemma(folder)
    return load(folder)


@pytest.fixture(scope="session", params=["qwen2", "llama", "qwen3"])
def tiny_causal(request: pytest.FixtureRequest, load: Open, tmp_path_factory: pytest.TempPathFactory) -> Denoiser:
    """Random weights, float32."""
    from tests.denoisers import tiny

    folder = tmp_path_factory.mktemp(request.param)
    tiny.causal(folder, request.param)
    return load(folder, dtype="float32")
