"""The least time that a step can take: the bytes it has to touch, by how quickly they can be read. Owns: that count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from attrs import define, field
from torch import Tensor, nn


@define(eq=False)
class Routed:
    """Which experts a pass asked for."""

    distinct: list[int] = field(factory=list)
    """Different ones, by layer."""

    @property
    def mean(self) -> float:
        """Per layer."""
        return sum(self.distinct) / max(1, len(self.distinct))


@contextmanager
def routed(network: Any) -> Iterator[Routed]:
    """Watch the routers of a network's decoder."""
    found = Routed()

    def see(module: nn.Module, given: tuple[Tensor, ...], out: tuple[Tensor, Tensor, Tensor]) -> None:
        found.distinct.append(int(torch.unique(out[2]).numel()))

    hooks = [layer.router.register_forward_hook(see) for layer in network.model.decoder.layers]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def bytes_touched(network: Any, distinct: list[int], kv_bytes: int) -> dict[str, int]:
    """Bytes of a step by part: weights once, of the experts only those asked for, and the prompt's keys and values."""
    decoder = network.model.decoder
    found = {"attention": 0, "dense": 0, "router": 0, "experts": 0}
    for layer, n in zip(decoder.layers, distinct, strict=True):
        found["attention"] += _size(layer.self_attn)
        found["dense"] += _size(layer.mlp)
        found["router"] += _size(layer.router)
        found["experts"] += _size(layer.experts) * n // layer.experts.num_experts
    found["self_conditioning"] = _size(decoder.self_conditioning)
    found["head"] = _size(network.lm_head)
    found["keys_and_values"] = kv_bytes
    return found


def _size(module: nn.Module) -> int:
    return sum(weight.numel() * weight.element_size() for weight in module.parameters())
