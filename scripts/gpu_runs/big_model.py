"""The large model as the engine serves it: its own denoiser over random weights and a made-up tokenizer.

Owns: how it is put together. Every step that is timed here is the engine's own step.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from engine.denoisers.gemma import GemmaForward
from engine.denoisers.kv_store import KVStore
from engine.denoisers.prefix_cache import PrefixCache
from engine.denoisers.prompt import FimFormat, Prompt, PromptBuilder
from engine.denoisers.sampler import SamplerSettings
from engine.denoisers.uniform import RowPlan, UniformDenoiser, UniformDenoising
from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Family, Fill, Limits, Model
from gpu_runs import models
from gpu_runs.device import synchronized

_ENDLESS = SamplerSettings(max_steps=10_000, confidence=-1.0)


def big_denoiser(sizes: dict[str, Any], device: torch.device, dtype: torch.dtype) -> tuple[UniformDenoiser, Any]:
    """The denoiser, and the library's network in it."""
    network = models.gemma(sizes, device, dtype)
    forward = GemmaForward(network)
    with tempfile.TemporaryDirectory() as folder:
        models.save_tokenizer(Path(folder), forward.embedding.num_embeddings)
        vocabulary = Vocabulary(Path(folder), forward.embedding.num_embeddings)
        builder = PromptBuilder(vocabulary, FimFormat(), 8192)
    cache = PrefixCache(lambda: KVStore(forward.shapes, dtype, device), 2**34)
    told = Model(
        name="random",
        family=Family.UNIFORM,
        device=str(device),
        dtype=str(dtype).removeprefix("torch."),
        n_parameters=sum(weight.numel() for weight in network.parameters()),
        note="Random weights.",
        scores=False,
    )
    limits = Limits(2**20, 512, 8, 16)
    return UniformDenoiser(forward, vocabulary, builder, _ENDLESS, cache, told, limits), network


def denoising(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int, seed: int = 0) -> UniformDenoising:
    """A fill over a prompt of `n_prompt` random tokens, `n_rows` canvases of `n_cells` cells."""
    generator = torch.Generator().manual_seed(seed)
    choices = denoiser.noise_tokens
    tokens = choices[torch.randint(len(choices), (n_prompt,), generator=generator)].tolist()
    prompt = Prompt(tuple(tokens), n_scoring=n_prompt, heal=b"", near=(), prefix=tuple(tokens), suffix=())
    plan = [RowPlan(n_cells, seed + row) for row in range(n_rows)]
    return UniformDenoising(denoiser, Fill("a", "", ""), prompt, plan)


def steps(fill: UniformDenoising, n: int, device: torch.device) -> list[float]:
    """Seconds of each of `n` steps."""
    took = []
    for _ in range(n):
        synchronized(device)
        started = time.perf_counter()
        fill.advance()
        synchronized(device)
        took.append(time.perf_counter() - started)
    return took


def begun(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int, n_steps: int = 2) -> UniformDenoising:
    """A fill whose prompt is encoded and whose first steps are done."""
    fill = denoising(denoiser, n_prompt, n_cells, n_rows)
    while fill.decision is None:
        fill.advance()
    for _ in range(n_steps - 1):
        fill.advance()
    return fill
