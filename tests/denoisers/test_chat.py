"""A DiffusionGemma without fill-in-the-middle tokens: asked by chat, its answer's fence and prefix given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.denoisers.denoiser import DenoiserError
from engine.denoisers.uniform import UniformDenoiser
from engine.protocol import Fill
from tests.denoisers import tiny

TEMPLATE = "<bos>{% for m in messages %}[{{ m.role }}]{{ m.content }}<eos>{% endfor %}[model]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("chat")
    tiny.gemma(made)
    (made / "midfill.json").unlink()
    tokenizer = json.loads((made / "tokenizer.json").read_text().replace("<|fim_", "<|none_"))
    (made / "tokenizer.json").write_text(json.dumps(tokenizer))
    return made


def configure(folder: Path, template: str | None) -> None:
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "TokenizersBackend", "eos_token": "<eos>", "chat_template": template})
    )


def test_prefix_and_fence_begin_the_answer(folder: Path, load: Callable[..., Any]) -> None:
    configure(folder, TEMPLATE)
    denoiser: UniformDenoiser = load(folder)
    suffix = "return total\n" * 20
    denoising = denoiser.open(Fill("a", "def f(x):\n    total = ", suffix, language="python", max_tokens=16))
    prompt = denoising.prompt
    text = denoiser.vocabulary.decode(prompt.tokens).decode()
    assert prompt.tokens[0] == denoiser.vocabulary.id("<bos>"), "control tokens of the template are tokens"
    assert text.endswith("[model]```python\ndef f(x):\n    total =")
    assert prompt.heal == b" "
    near = denoiser.vocabulary.decode(prompt.near).decode()
    assert near and suffix.startswith(near)
    assert text.count("return total") > 3, "the far suffix is quoted in the request"
    assert sorted(denoising.n_cells) == [8, 16, 32, 64, 128], "without a fill token, sizes compete"
    frames = 0
    while (progress := denoising.advance()).reason is None:
        frames += progress.frame is not None
    assert frames
    silent = denoiser.vocabulary.silent
    assert all(not silent & set(denoising._region(row)) for row in range(5))
    denoising.close()


def test_a_row_that_starts_from_a_seed_is_of_its_size(folder: Path, load: Callable[..., Any]) -> None:
    configure(folder, TEMPLATE)
    denoiser: UniformDenoiser = load(folder)
    fill = Fill("a", "def f(x):\n    total = ", "return total\n", max_tokens=16, guesses=("x + 1\n",))
    denoising = denoiser.open(fill)
    (seed,) = denoising.seeds
    assert denoising.n_cells[-1] == len(seed)
    assert denoising.canvas[-1, : len(seed)].tolist() == seed
    while denoising.advance().reason is None:
        pass
    denoising.close()


def test_typing_only_appends(folder: Path, load: Callable[..., Any]) -> None:
    configure(folder, TEMPLATE)
    denoiser: UniformDenoiser = load(folder)
    first = denoiser.builder.build(Fill("a", "total = x", "\n", language="python")).tokens
    second = denoiser.builder.build(Fill("a", "total = x + y", "\n", language="python")).tokens
    assert second[: len(first)] == first


def test_a_model_with_neither_is_refused_in_words(folder: Path, load: Callable[..., Any]) -> None:
    configure(folder, None)
    with pytest.raises(DenoiserError, match="cannot infill"):
        load(folder)
