"""Times of one fill by phase. Owns: running sums in milliseconds, and their form in `Counts`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from engine.denoisers.denoiser import Counts


class Stopwatch:
    """Sums by name. Work on a GPU is waited for: a pass is over when its numbers are there, not when it is launched."""

    def __init__(self, device: torch.device) -> None:
        self._device = device if device.type == "cuda" else None
        self._sums: dict[str, float] = {}

    def __getitem__(self, name: str) -> float:
        return self._sums.get(name, 0.0)

    @contextmanager
    def __call__(self, *names: str) -> Iterator[None]:
        """Add the time of the block to every name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            if self._device is not None:
                torch.cuda.synchronize(self._device)
            elapsed = (time.perf_counter() - start) * 1000
            for name in names:
                self._sums[name] = self[name] + elapsed

    def counts(self, n_passes: int, n_prompt_tokens: int, n_reused_tokens: int) -> Counts:
        """Figures of a fill in which each denoising step was one forward pass."""
        return Counts(
            n_steps=n_passes,
            n_forward_passes=n_passes,
            n_prompt_tokens=n_prompt_tokens,
            n_reused_tokens=n_reused_tokens,
            prefill_ms=self["prefill"],
            denoise_ms=self["denoise"],
            rank_ms=self["rank"],
            forward_ms=self["forward"],
        )
