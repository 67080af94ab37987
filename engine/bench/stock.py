"""Stock `generate()` of transformers on a loaded denoiser's weights, prompt and hole: what we compare with.

Owns: driving the library so that it solves the same task: the same clamps, bans and random numbers (uniform), the
same withdrawn text and stop rules (causal). The parity tests use it as their oracle.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import torch
import transformers
from attrs import Factory, define
from torch import Tensor
from transformers.models.diffusion_gemma import generation_diffusion_gemma as library

from engine.denoisers.causal import CausalDenoiser, CausalDenoising
from engine.denoisers.sampler import sample
from engine.denoisers.uniform import UniformDenoiser, UniformDenoising
from engine.protocol import Fill


@define(eq=False)
class StockStep:
    """One step of the library's loop over the region's cells."""

    logits: Tensor
    """`[cells, vocabulary]` float32, before temperature."""
    accepted: Tensor
    """`[cells]` bool."""
    argmax: Tensor
    """`[cells]`."""


@define(eq=False)
class StockUniform(transformers.LogitsProcessor):
    """One canvas of `DiffusionGemmaForBlockDiffusion.generate`, clamped; also its logits processor and streamer."""

    denoiser: UniformDenoiser
    denoising: UniformDenoising
    """A fresh fill of one candidate: its canvas, prompt and numbers are used."""
    record: bool = False
    steps: list[StockStep] = Factory(list)
    n_steps: int = 0
    argmax: Tensor = Factory(lambda: torch.empty(0))

    def run(self) -> str:
        """The text that the library makes of the hole."""
        self._seed = self.denoising.canvas.clone()
        self._n = self.denoising.n_cells[0]
        self._masks: list[Tensor] = []
        network, settings = self.denoiser.forward.model, self.denoiser.settings
        network.config.image_token_id = -1  # None breaks generate() of 5.24
        network.config.canvas_length = self._seed.shape[1]
        with self._our_numbers():
            network.generate(
                torch.tensor([self.denoising.prompt.tokens], device=self._seed.device),
                decoder_input_ids=self._seed,
                logits_processor=transformers.LogitsProcessorList([self]),
                streamer=self,
                max_new_tokens=self._seed.shape[1],
                max_denoising_steps=settings.max_steps,
                t_min=settings.t_min,
                t_max=settings.t_max,
                # the library's mean is over the whole canvas, ours over the free cells: the same threshold
                confidence_threshold=settings.confidence * self._n / self._seed.shape[1],
                stability_threshold=1,
                sampler_config=library.EntropyBoundSamplerConfig(entropy_bound=settings.entropy_bound),
            )
        return self.denoising.reader.text(self.argmax[: self._n].tolist()).text

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Our bans over the region; one-hot at clamped cells."""
        self.n_steps += 1
        self.denoising.allow(scores[:, : self._n])
        if self.record:
            self.steps.append(StockStep(scores[0, : self._n].clone(), torch.empty(0), torch.empty(0)))
        known = self._seed[0, self._n :]
        scores[0, self._n :] = -torch.inf
        scores[0, torch.arange(self._n, scores.shape[1]), known] = 0.0
        return scores

    def put(self, value: Tensor) -> None:
        """Called with prompt and result."""

    def put_draft(self, value: Tensor) -> None:
        """Called with the argmax canvas after each step."""
        self.argmax = value[0]
        if self.record:
            self.steps[-1].argmax = value[0, : self._n].clone()

    def end(self) -> None:
        """Called last."""

    @contextmanager
    def _our_numbers(self) -> Iterator[None]:
        noise, choices = self.denoising.noise[0], self.denoiser.noise_tokens
        accept = library.EntropyBoundSampler.accept_canvas

        def multinomial(probabilities: Tensor, num_samples: int) -> Tensor:
            drawn = self._seed[0].clone()
            uniform, _ = noise.step(self.n_steps, self._n, choices)
            drawn[: self._n] = sample(probabilities[: self._n], uniform)
            return drawn.unsqueeze(1)

        def initialize_canvas(sampler: Any, batch_size: int, device: Any) -> Tensor:
            canvas = self._seed.clone()
            if self.n_steps:
                canvas[0, : self._n] = noise.step(self.n_steps, self._n, choices)[1]
            return canvas

        def accept_canvas(sampler: Any, *arguments: Any) -> Tensor:
            found: Tensor = accept(sampler, *arguments)
            if self.record:
                self.steps[-1].accepted = sampler.accepted_token_mask[0, : self._n].clone()
            return found

        with (
            mock.patch.object(torch, "multinomial", multinomial),
            mock.patch.object(library.EntropyBoundSampler, "initialize_canvas", initialize_canvas),
            mock.patch.object(library.EntropyBoundSampler, "accept_canvas", accept_canvas),
        ):
            yield


class StockCausal:
    """Greedy `generate()` of a causal model, cold or on a warm cache."""

    def __init__(self, denoiser: CausalDenoiser, fill: Fill) -> None:
        self._denoiser = denoiser
        self.denoising: CausalDenoising = denoiser.open(fill)
        self._n_tokens = min(fill.max_tokens, denoiser.limits.region_tokens)
        self._cache: Any = None
        self.tokens: list[int] = []

    @contextmanager
    def _stock_attention(self) -> Iterator[None]:
        """The library's own attention, as a user of it has."""
        network = self._denoiser.network
        ours = network.config._attn_implementation
        network.set_attn_implementation("sdpa")
        try:
            yield
        finally:
            network.set_attn_implementation(ours)

    def warm(self) -> None:
        """Encode the prompt but for its last token, so that `run` has nothing to prefill."""
        *head, _ = self.denoising.prompt.tokens
        self._cache = transformers.DynamicCache(config=self._denoiser.network.config)
        with torch.inference_mode(), self._stock_attention():
            self._denoiser.network(torch.tensor([head], device=self._denoiser.device), cache=self._cache)

    def run(self) -> str:
        """The text that the library makes of the hole."""
        prompt = torch.tensor([self.denoising.prompt.tokens], device=self._denoiser.device)
        start = prompt.shape[1]
        with self._stock_attention():
            out = self._denoiser.network.generate(
                prompt,
                attention_mask=torch.ones_like(prompt),
                do_sample=False,
                repetition_penalty=1.0,
                max_new_tokens=self._n_tokens,
                eos_token_id=sorted(self._denoiser.vocabulary.silent),
                pad_token_id=0,
                logits_processor=transformers.LogitsProcessorList([_Healing(self.denoising, start)]),
                stopping_criteria=transformers.StoppingCriteriaList([_Whole(self.denoising, start)]),
                **({"cache": self._cache} if self._cache is not None else {}),
            )
        self.tokens = out[0, start:].tolist()
        if self._cache is not None:  # as it was, for the next run
            self._cache.crop(-(self._cache.get_seq_length() - (start - 1)))
        return self.denoising.reader.text(self.tokens).text


class _Healing(transformers.LogitsProcessor):
    """The withdrawn text as a constraint."""

    def __init__(self, denoising: CausalDenoising, start: int) -> None:
        self._row, self._start = denoising.new_row(), start
        self._vocabulary = denoising.vocabulary

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        rest = self._row.rest_of_heal(input_ids[0, self._start :].tolist())
        if not rest:
            return scores
        allowed = torch.tensor(self._vocabulary.continuing(rest), device=scores.device)
        kept = torch.full_like(scores, -torch.inf)
        kept[:, allowed] = scores[:, allowed]
        return kept


class _Whole(transformers.StoppingCriteria):
    """The end of the line, or the suffix."""

    def __init__(self, denoising: CausalDenoising, start: int) -> None:
        self._reader, self._start = denoising.reader, start

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        return torch.tensor([self._reader.is_whole(input_ids[0, self._start :].tolist())], device=input_ids.device)
