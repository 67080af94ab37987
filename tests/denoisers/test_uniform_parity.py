"""Our denoising loop against `generate()` of transformers, clamped with a seed canvas and a one-hot processor.

Both are given the same numbers to sample and renoise with; every step must then give the same logits, the same
accepted cells and the same argmax canvas, and the loop must stop at the same step for the same reason.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from transformers.models.diffusion_gemma import generation_diffusion_gemma as reference

from engine.denoisers.noise import Noise
from engine.denoisers.uniform import UniformDenoiser, UniformDenoising
from engine.protocol import Fill

PREFIX = "import os\n\n\nclass Reader:\n    def read(self, path):\n        with open(path) as file:\n            ret"
SUFFIX = "\n\n    def write(self, path, text):\n        with open(path, 'w') as file:\n            file.write(text)\n"


class Oracle:
    """`generate()` with our clamps and our numbers; records each step."""

    def __init__(self, denoiser: UniformDenoiser, denoising: UniformDenoising, monkeypatch: pytest.MonkeyPatch) -> None:
        self.denoiser, self.denoising = denoiser, denoising
        self.seed_canvas = denoising.canvas.clone()
        self.n_cells = denoising._n_cells[0]
        self.noise: Noise = denoising._noise[0]
        self.step = 0
        self.logits: list[torch.Tensor] = []
        self.accepted: list[torch.Tensor] = []
        self.argmax: list[torch.Tensor] = []
        accept = reference.EntropyBoundSampler.accept_canvas

        def accept_canvas(sampler: Any, *args: Any) -> torch.Tensor:
            found = accept(sampler, *args)
            self.accepted.append(sampler.accepted_token_mask[0].clone())
            return found

        def multinomial(probs: torch.Tensor, num_samples: int) -> torch.Tensor:
            drawn = self.seed_canvas[0].clone()
            uniform, _ = self.noise.step(self.step, self.n_cells, denoiser.noise_tokens)
            for cell in range(self.n_cells):
                cumulative = probs[cell].double().cumsum(0)
                target = uniform[cell] * cumulative[-1]
                drawn[cell] = min(int(torch.searchsorted(cumulative, target, right=True)), probs.shape[1] - 1)
            return drawn.unsqueeze(1)

        def initialize(sampler: Any, batch_size: int, device: Any) -> torch.Tensor:
            canvas = self.seed_canvas.clone()
            if self.step:
                canvas[0, : self.n_cells] = self.noise.step(self.step, self.n_cells, denoiser.noise_tokens)[1]
            return canvas

        monkeypatch.setattr(reference.EntropyBoundSampler, "accept_canvas", accept_canvas)
        monkeypatch.setattr(reference.EntropyBoundSampler, "initialize_canvas", initialize)
        monkeypatch.setattr(torch, "multinomial", multinomial)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The logits processor: known tokens where they are known, our bans where they are not."""
        self.step += 1
        self.denoising._allow(scores[:, : self.n_cells])
        self.logits.append(scores[0, : self.n_cells].clone())
        known = self.seed_canvas[0, self.n_cells :]
        scores[0, self.n_cells :] = -torch.inf
        scores[0, torch.arange(self.n_cells, scores.shape[1]), known] = 0.0
        return scores

    def put(self, _: torch.Tensor) -> None: ...

    def put_draft(self, value: torch.Tensor) -> None:
        """The streamer."""
        self.argmax.append(value[0].clone())

    def end(self) -> None: ...

    def run(self, prompt: tuple[int, ...]) -> None:
        """One canvas of stock `generate()`."""
        network, settings = self.denoiser.forward.model, self.denoiser.settings
        network.config.image_token_id = -1  # None there breaks generate() of 5.24
        network.config.canvas_length = self.seed_canvas.shape[1]
        free = self.n_cells / self.seed_canvas.shape[1]
        network.generate(
            torch.tensor([prompt]),
            decoder_input_ids=self.seed_canvas,
            logits_processor=transformers.LogitsProcessorList([self]),  # type: ignore[list-item]
            streamer=self,  # type: ignore[arg-type]
            max_new_tokens=self.seed_canvas.shape[1],
            max_denoising_steps=settings.max_steps,
            t_min=settings.t_min,
            t_max=settings.t_max,
            # over the whole canvas there, over free cells here: the same threshold in other words
            confidence_threshold=settings.confidence * free,
            stability_threshold=1,
            sampler_config=reference.EntropyBoundSamplerConfig(entropy_bound=settings.entropy_bound),
        )


@pytest.mark.parametrize("model", ["bundled", "tiny_gemma"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_step_equals_generate(
    model: str, seed: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    denoiser: UniformDenoiser = request.getfixturevalue(model)
    fill = Fill("a", PREFIX * (1 + seed), SUFFIX, max_tokens=8 if model == "tiny_gemma" else 16, seed=seed)
    ours = denoiser.open(fill)
    oracle = Oracle(denoiser, ours, monkeypatch)
    while not ours._prefill.done:
        ours.advance()
    with monkeypatch.context():
        oracle.run(ours._prompt.tokens)
    oracle_noise, n = list(zip(oracle.logits, oracle.accepted, oracle.argmax, strict=True)), oracle.n_cells
    logits_seen: list[torch.Tensor] = []
    allow = ours._allow

    def recording(logits: torch.Tensor) -> None:
        allow(logits)
        logits_seen.append(logits[0].clone())

    ours._allow = recording  # type: ignore[method-assign]
    for step, (logits, accepted, argmax) in enumerate(oracle_noise):
        assert not ours._over(), f"we stopped before step {step + 1} of {len(oracle_noise)}"
        ours.advance()
        assert ours.decision is not None
        finite = logits.isfinite()
        assert torch.equal(finite, logits_seen[-1].isfinite())
        torch.testing.assert_close(logits_seen[-1][finite], logits[finite], atol=1e-4, rtol=1e-4)
        assert torch.equal(ours.decision.accepted[0], accepted[:n]), f"accepted cells of step {step + 1}"
        assert torch.equal(ours.decision.argmax[0], argmax[:n]), f"argmax canvas of step {step + 1}"
        assert torch.equal(ours.canvas[0, n:], oracle.seed_canvas[0, n:]), "clamped cells never change"
    assert ours._over()
    ours.close()
