"""The causal family's converged canvas equals greedy `generate()` token for token, whatever the guesses are."""

from __future__ import annotations

import math
import random
from typing import Any

import attrs
import pytest
import torch

from engine.bench.stock import StockCausal
from engine.denoisers.attention import grouped_attention
from engine.denoisers.causal import CausalDenoiser, CausalDenoising
from engine.models.resolve import ModelNotFoundError, resolve
from engine.protocol import Fill

PREFIX = "def read(path):\n    with open(path) as file:\n        return file.read()\n\n\ndef write(path, text):\n    wi"
SUFFIX = "\n\n\ndef remove(path):\n    path.unlink()\n"


def converged(denoising: CausalDenoising) -> list[int]:
    while denoising.advance().reason is None:
        pass
    return denoising._rows[0].accepted


@pytest.mark.parametrize("cut", [0, 1, 5, 40, 60, len(PREFIX)])
def test_random_models(tiny_causal: CausalDenoiser, cut: int) -> None:
    fill = Fill("a", PREFIX[:cut], SUFFIX, max_tokens=48)
    stock = StockCausal(tiny_causal, fill)
    text = stock.run()
    denoising = tiny_causal.open(fill)
    assert converged(denoising) == stock.tokens
    assert [candidate.text for candidate in denoising.candidates()] in ([text], [])
    stock.warm()
    assert stock.run() == stock.run() == text
    denoising.close()


def test_guesses_never_change_the_text(tiny_causal: CausalDenoiser) -> None:
    fill = Fill("a", PREFIX, SUFFIX, max_tokens=32)
    plain = converged(tiny_causal.open(fill))
    text = tiny_causal.vocabulary.decode(plain)[2:].decode("utf-8", "ignore")
    generator = random.Random(5)
    for guess in (
        text,
        text[: len(text) // 2],
        "th open(path) as file:\n    pass",
        "".join(generator.sample(text, len(text))),
    ):
        fast = tiny_causal.open(Fill("a", PREFIX, SUFFIX, max_tokens=32, guesses=(guess,)))
        assert converged(fast) == plain
        fast.close()
    right = tiny_causal.open(Fill("a", PREFIX, SUFFIX, max_tokens=32, guesses=(text,)))
    converged(right)
    assert right.counts.n_forward_passes < len(plain)


def test_without_copies_the_text_is_the_same(tiny_causal: CausalDenoiser, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = Fill("a", PREFIX, SUFFIX, max_tokens=32)
    plain = converged(tiny_causal.open(fill))
    text = tiny_causal.vocabulary.decode(plain)[2:].decode("utf-8", "ignore")
    monkeypatch.setattr(tiny_causal, "copies", False)
    alone = tiny_causal.open(attrs.evolve(fill, guesses=(text,)))
    assert converged(alone) == plain
    told = tiny_causal.open(attrs.evolve(fill, guesses=("nonsense",)))
    assert converged(told) == plain
    assert alone.counts.n_forward_passes == told.counts.n_forward_passes  # nobody looked at the guess
    alone.close()
    told.close()


def test_at_any_step_an_answer_is_whole_lines_of_the_last_one(tiny_causal: CausalDenoiser) -> None:
    prefix = PREFIX.replace(" ", "")  # whose line ends the random models repeat
    denoising = tiny_causal.open(Fill("a", prefix, "", max_tokens=48, guesses=("th\n" * 20,)))
    answers = [denoising.candidates()]
    while denoising.advance().reason is None:
        answers.append(denoising.candidates())
    last = tiny_causal.vocabulary.decode(denoising._rows[0].accepted)[len(denoising.prompt.heal) :]
    for (answer,) in filter(None, answers):
        assert answer.text.endswith("\n") and not answer.converged
        assert last.startswith(answer.text.encode().rstrip())


def test_alternatives_do_not_change_the_greedy_row(tiny_causal: CausalDenoiser) -> None:
    plain = converged(tiny_causal.open(Fill("a", PREFIX, SUFFIX, max_tokens=24)))
    several = tiny_causal.open(Fill("a", PREFIX, SUFFIX, max_tokens=24, n_alternatives=4))
    assert converged(several) == plain
    assert len({tuple(row.accepted) for row in several._rows}) == 4
    scores = [candidate.score for candidate in several.candidates()]
    assert scores == sorted(scores, reverse=True)
    assert all(math.isfinite(score) for score in scores)
    several.close()


@pytest.mark.parametrize("cut", [1, 9, 24, 43, len(PREFIX)])
def test_alternatives_keep_the_withdrawn_text(tiny_causal: CausalDenoiser, cut: int) -> None:
    """Where it allows for few tokens, the rows part company behind it."""
    several = tiny_causal.open(Fill("a", PREFIX[:cut], SUFFIX, max_tokens=12, n_alternatives=6))
    converged(several)
    heal = several.prompt.heal
    assert heal
    for row in several._rows:
        text = tiny_causal.vocabulary.decode(row.accepted)
        assert text.startswith(heal) or tiny_causal.vocabulary.silent & set(row.accepted)
        assert math.isfinite(row.log_probability)
    assert len({tuple(row.accepted) for row in several._rows}) == 6
    several.close()


@pytest.mark.real
def test_the_real_model(load: Any) -> None:
    try:
        resolve("qwen2.5-coder-0.5b")
    except ModelNotFoundError as error:
        pytest.fail(str(error))
    denoiser = load("qwen2.5-coder-0.5b")
    source = (PREFIX + "th open(path, 'w') as file:\n        file.write(text)\n" + SUFFIX) * 3
    generator = random.Random(0)
    different = []
    for _ in range(8):
        cut = generator.randrange(10, len(source) - 40)
        fill = Fill("a", source[:cut], source[cut + 30 :], max_tokens=32)
        stock = StockCausal(denoiser, fill)
        stock.run()
        if converged(denoiser.open(fill)) != stock.tokens:
            different.append(cut)
    assert not different


@pytest.mark.parametrize("n", [1, 5, 40])
def test_grouped_attention_equals_repeated_heads(n: int) -> None:
    generator = torch.Generator().manual_seed(n)
    query = torch.randn(2, 6, n, 8, generator=generator)
    key, value = torch.randn(2, 2, 2, 50, 8, generator=generator).unbind(0)
    mask = torch.rand(2, 1, n, 50, generator=generator) < 0.7
    mask[..., 0] = True
    out, _ = grouped_attention(None, query, key, value, mask, scaling=0.3)
    keys, values = key.repeat_interleave(3, dim=1), value.repeat_interleave(3, dim=1)
    weights = ((query @ keys.transpose(-1, -2)) * 0.3).masked_fill(~mask, -torch.inf).softmax(-1)
    torch.testing.assert_close(out, (weights @ values).transpose(1, 2))
