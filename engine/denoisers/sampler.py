"""The entropy-bound sampler: one denoising step's decision from its logits. Pure functions of tensors.

Source: Ben-Hamu et al., "Accelerated sampling from masked diffusion models via entropy bounded unmasking"
(arXiv 2505.24857), in the form of `generation_diffusion_gemma.py` of transformers, but over the region's free
cells only: clamped cells have entropy 0 there, so the accepted set is the same.
"""

from __future__ import annotations

import torch
from attrs import frozen
from torch import Tensor

_NEVER = 1e9
"""Entropy put on cells that are no part of a row's region, in nats: never accepted, never counted."""

_LOWEST = -1e4
"""Log-probability of what is not allowed: its probability is exactly 0, and 0 times this is 0, not nan."""


@frozen
class SamplerSettings:
    """A checkpoint's generation settings."""

    max_steps: int = 48
    entropy_bound: float = 0.1
    """Nats that the cells accepted at once may have together, beyond the last one."""
    t_min: float = 0.4
    t_max: float = 0.8
    confidence: float = 0.005
    """Mean entropy of the free cells below which a stable canvas has converged, in nats."""

    def temperature(self, step: int) -> float:
        """Temperature of step 1, 2, ..., max_steps: from t_max down to just above t_min."""
        left = self.max_steps - step + 1
        return self.t_min + (self.t_max - self.t_min) * left / self.max_steps


@frozen(eq=False)
class Decision:
    """What one step decided; all `[rows, cells]` unless said."""

    probabilities: Tensor
    """`[rows, cells, vocabulary]` float32, after temperature: the next step is conditioned on them."""
    entropy: Tensor
    """Nats."""
    argmax: Tensor
    accepted: Tensor
    canvas: Tensor
    """Sampled tokens where accepted, renoised ones elsewhere."""


def decide(
    logits: Tensor, temperature: float, bound: float, uniform: Tensor, renoise: Tensor, free: Tensor
) -> Decision:
    """One update.

    `logits` `[rows, cells, vocabulary]` float32, -inf where a token is not allowed; `uniform` float64 in [0, 1),
    `renoise` int64, `free` bool, all `[rows, cells]`: the numbers to sample and renoise with, and the cells that are
    part of the row's region.
    """
    log_probabilities = torch.log_softmax(logits / temperature, dim=-1).clamp_(min=_LOWEST)
    probabilities = log_probabilities.exp()
    entropy = -torch.linalg.vecdot(probabilities, log_probabilities)
    argmax = logits.argmax(-1)
    ranked, order = torch.where(free, entropy, torch.full_like(entropy, _NEVER)).sort(dim=-1)
    within = ranked.cumsum(-1) - ranked <= bound
    accepted = torch.zeros_like(free).scatter(-1, order, within) & free
    canvas = renoise.clone()
    canvas[accepted] = sample(probabilities[accepted], uniform[accepted])
    return Decision(probabilities, entropy, argmax, accepted, canvas)


def sample(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """Tokens `[...]` drawn from `probabilities` `[..., vocabulary]` with `uniform` `[...]` in [0, 1).

    By inverse transform: one number a cell, whatever the vocabulary's size.
    """
    cumulative = probabilities.cumsum(-1, dtype=torch.float64)
    threshold = uniform.to(cumulative.device).unsqueeze(-1) * cumulative[..., -1:]
    drawn = torch.searchsorted(cumulative, threshold, right=True).squeeze(-1)
    return drawn.clamp(max=probabilities.shape[-1] - 1)
