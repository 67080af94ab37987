"""Our denoising loop against `generate()` of transformers, clamped with a seed canvas and a one-hot processor.

Both are given the same numbers to sample and renoise with; every step must then give the same logits, the same
accepted cells and the same argmax canvas, and the loop must stop at the same step.
"""

from __future__ import annotations

import pytest
import torch

from engine.bench.stock import StockUniform
from engine.denoisers.uniform import UniformDenoiser
from engine.protocol import Fill

PREFIX = "import os\n\n\nclass Reader:\n    def read(self, path):\n        with open(path) as file:\n            ret"
SUFFIX = "\n\n    def write(self, path, text):\n        with open(path, 'w') as file:\n            file.write(text)\n"


@pytest.mark.parametrize("model", ["bundled", "tiny_gemma"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_step_equals_generate(model: str, seed: int, request: pytest.FixtureRequest) -> None:
    denoiser: UniformDenoiser = request.getfixturevalue(model)
    fill = Fill("a", PREFIX * (1 + seed), SUFFIX, max_tokens=8 if model == "tiny_gemma" else 16, seed=seed)
    ours = denoiser.open(fill)
    stock = StockUniform(denoiser, denoiser.open(fill), record=True)
    text = stock.run()
    seen: list[torch.Tensor] = []
    allow = ours.allow

    def recording(logits: torch.Tensor) -> None:
        allow(logits)
        seen.append(logits[0].clone())

    ours.allow = recording  # type: ignore[method-assign]
    first = ours.canvas.clone()
    n, n_steps, several = ours.n_cells[0], 0, 0
    while not seen or n_steps < len(stock.steps):
        ours.advance()
        if len(seen) == n_steps:  # a chunk of prefill
            continue
        step = stock.steps[n_steps]
        n_steps += 1
        finite = step.logits.isfinite()
        assert torch.equal(finite, seen[-1].isfinite())
        torch.testing.assert_close(seen[-1][finite], step.logits[finite], atol=1e-4, rtol=1e-4)
        assert ours.decision is not None
        assert torch.equal(ours.decision.accepted[0], step.accepted), f"accepted cells of step {n_steps}"
        assert torch.equal(ours.decision.argmax[0], step.argmax), f"argmax canvas of step {n_steps}"
        assert torch.equal(ours.canvas[0, n:], first[0, n:]), "clamped cells never change"
        several += int(step.accepted.sum()) > 1
    while ours.advance().reason is None:
        assert ours.counts.n_steps == n_steps, "we must stop when the library does"
    assert ours.counts.n_steps == n_steps
    assert several, "a sampler that accepts one cell a step would prove little"
    denoised = [candidate.text for candidate in ours.candidates() if candidate.n_steps]  # the others are copies
    assert denoised in ([text], [])
    ours.close()
