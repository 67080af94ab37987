"""The store after any edit script equals a fresh encode, below, at and far beyond the sliding window."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.denoisers.causal import CausalDenoiser
from engine.denoisers.kv_store import KVStore, LayerShape, first_visible
from engine.denoisers.memory import Rows
from engine.denoisers.prefill import Prefill
from engine.denoisers.prefix_cache import PrefixCache
from engine.denoisers.uniform import UniformDenoiser
from engine.protocol import Fill

WINDOW = 16  # of the tiny model

tokens = st.lists(st.integers(7, 300), min_size=0, max_size=40)
edits = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.floats(0, 1), tokens),
        st.tuples(st.just("delete"), st.floats(0, 1), st.integers(1, 30)),
        st.tuples(st.just("jump"), st.just(0.0), st.lists(st.integers(7, 300), min_size=1, max_size=90)),
    ),
    min_size=1,
    max_size=6,
)


def keys_and_values(denoiser: UniformDenoiser | CausalDenoiser, cache: PrefixCache, prompt: list[int]) -> KVStore:
    denoising = denoiser.open(Fill("a", "x", ""))  # lends us its way to encode
    prefill = Prefill(cache, prompt, denoising._encode)
    with torch.inference_mode():
        while not prefill.done:
            prefill.advance()
    prefill.close()
    denoising.close()
    return prefill.store


def check(denoiser: UniformDenoiser | CausalDenoiser, script: list[tuple[str, float, object]], length: int) -> None:
    shapes = denoiser.forward.shapes if isinstance(denoiser, UniformDenoiser) else denoiser.shapes

    def make() -> KVStore:
        return KVStore(shapes, torch.float32, torch.device("cpu"))

    cache = PrefixCache(make, max_bytes=400_000)
    prompt = [7 + i % 200 for i in range(length)]
    for kind, where, what in [("insert", 0.0, []), *script]:
        at = int(where * len(prompt))
        if kind == "insert":
            assert isinstance(what, list)
            prompt = prompt[:at] + what + prompt[at:]
        elif kind == "delete":
            assert isinstance(what, int)
            prompt = prompt[:at] + prompt[at + what :] or [7]
        else:
            assert isinstance(what, list)
            prompt = what
        store = keys_and_values(denoiser, cache, prompt)
        fresh = keys_and_values(denoiser, PrefixCache(make, 10**9), prompt)
        assert store.tokens == prompt
        for layer in range(len(shapes)):
            for got, expected in zip(store.raw(layer, 0, len(prompt)), fresh.raw(layer, 0, len(prompt)), strict=True):
                torch.testing.assert_close(got, expected, atol=1e-4, rtol=0)
        assert cache.n_bytes <= 400_000 + store.n_bytes


slow = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(script=edits, length=st.sampled_from([3, WINDOW - 1, WINDOW, WINDOW + 1, 300]))
def test_uniform_after_edits(tiny_gemma: UniformDenoiser, script: list[tuple[str, float, object]], length: int) -> None:
    check(tiny_gemma, script, length)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(script=edits, length=st.sampled_from([3, 300]))
def test_causal_after_edits(tiny_causal: CausalDenoiser, script: list[tuple[str, float, object]], length: int) -> None:
    check(tiny_causal, script, length)


@pytest.mark.parametrize("length", [5, WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW, 200])
def test_a_canvas_sees_the_last_window(tiny_gemma: UniformDenoiser, length: int) -> None:
    """Sliding layers hand the canvas the last window - 1 prompt keys, full layers all."""
    store = keys_and_values(tiny_gemma, PrefixCache(tiny_gemma.cache._make, 10**9), [9] * length)
    rows = Rows(store, 2, 5)
    for layer, shape in enumerate(tiny_gemma.forward.shapes):
        expected = min(length, WINDOW - 1) if shape.window else length
        assert rows.visible(layer) == expected == length - first_visible(length, shape.window)


def make() -> KVStore:
    return KVStore([LayerShape(1, 2)], torch.float32, torch.device("cpu"))


def write(store: KVStore, tokens: list[int]) -> None:
    store.reserve(len(store) + len(tokens))
    store.commit(tokens)


def test_a_store_in_use_is_forked_not_cut() -> None:
    cache = PrefixCache(make, 10**9)
    first, _ = cache.take([1, 2, 3, 4])
    write(first, [1, 2, 3, 4])
    second, n = cache.take([1, 2, 3, 9])
    assert n == 3
    assert second is not first
    assert first.tokens == [1, 2, 3, 4]


def test_two_prompts_do_not_push_each_other_out() -> None:
    """Two editors in turn (llama.vim issue 42): each finds its own prompt again."""
    cache = PrefixCache(make, 10**9)
    a, b = [1] * 50, [1] * 5 + [2] * 50
    for _ in range(3):
        for prompt in (a, b):
            store, n = cache.take(prompt)
            write(store, prompt[n:])
            cache.release(store)
    assert cache.take(a)[1] == len(a)
    assert cache.take(b)[1] == len(b)


def test_memory_is_bounded_by_dropping_the_oldest() -> None:
    cache = PrefixCache(make, max_bytes=1)
    for start in range(5):
        prompt = [start * 10 + i for i in range(5)]
        store, _ = cache.take(prompt)
        write(store, prompt)
        cache.release(store)
    assert cache.n_tokens == 5
