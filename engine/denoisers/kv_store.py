"""Keys and values of one prompt, all layers in full, and the views that a model is handed.

Owns: KV memory of one prompt. Must not know: models, tokenizers, requests. Runs on the core's thread.
Sliding layers are kept in full as well: a model's own sliding cache can't be rolled back, a view cut to the last
`window - 1` keys can. That is what makes reuse by longest common prefix exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from attrs import frozen
from torch import Tensor

_GROWTH = 256
"""Tokens by which a buffer grows at least."""


@frozen
class LayerShape:
    """One layer's keys and values."""

    n_heads: int
    head_dim: int
    window: int = 0
    """Sliding window in tokens, the query's own included; 0: full attention."""


class KVStore:
    """Full keys and values of one token sequence; each buffer is `[1, heads, capacity, head_dim]`."""

    def __init__(self, shapes: Sequence[LayerShape], dtype: torch.dtype, device: torch.device) -> None:
        self.shapes = tuple(shapes)
        self.tokens: list[int] = []
        """The tokens whose keys and values are here."""
        self.n_users = 0
        """Fills that read from here now; a store in use is never truncated."""
        self._dtype, self.device = dtype, device
        self._keys = [torch.empty(1, s.n_heads, 0, s.head_dim, dtype=dtype, device=device) for s in self.shapes]
        self._values = [torch.empty_like(k) for k in self._keys]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""
        return sum(t.numel() * t.element_size() for t in (*self._keys, *self._values))

    def common_prefix(self, tokens: Sequence[int]) -> int:
        """Length of the longest common prefix with `tokens`."""
        n = min(len(tokens), len(self.tokens))
        if self.tokens[:n] == list(tokens[:n]):
            return n
        return next(i for i in range(n) if self.tokens[i] != tokens[i])

    def truncate(self, n: int) -> None:
        """Forget everything from token `n` on."""
        assert not self.n_users, "a store in use is never truncated"
        del self.tokens[n:]

    def fork(self, n: int) -> KVStore:
        """A copy of the first `n` tokens."""
        other = KVStore(self.shapes, self._dtype, self.device)
        other.reserve(n)
        for layer in range(len(self.shapes)):
            other._keys[layer][:, :, :n] = self._keys[layer][:, :, :n]
            other._values[layer][:, :, :n] = self._values[layer][:, :, :n]
        other.tokens = self.tokens[:n]
        return other

    def reserve(self, n: int) -> None:
        """Make room for `n` tokens in all."""
        if not self._keys or n <= self._keys[0].shape[2]:
            return
        capacity = n + max(_GROWTH, n // 4)
        self._keys, self._values = (  # both or neither: memory may end on the way
            [self._larger(old, capacity) for old in self._keys],
            [self._larger(old, capacity) for old in self._values],
        )

    def _larger(self, old: Tensor, capacity: int) -> Tensor:
        new = torch.empty(1, old.shape[1], capacity, old.shape[3], dtype=old.dtype, device=old.device)
        new[:, :, : len(self)] = old[:, :, : len(self)]
        return new

    def write(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Put `[1, heads, m, head_dim]` behind the committed tokens; `commit` makes them count."""
        start, end = len(self), len(self) + keys.shape[2]
        self._keys[layer][:, :, start:end] = keys
        self._values[layer][:, :, start:end] = values

    def commit(self, tokens: Sequence[int]) -> None:
        """The keys and values written last belong to `tokens`."""
        self.tokens.extend(tokens)

    def view(self, layer: int, end: int) -> tuple[Tensor, Tensor]:
        """Keys and values up to token `end`, cut to what the layer's window lets a query at `len(self)` see.

        Returns two views `[1, heads, n, head_dim]`.
        """
        return self.raw(layer, first_visible(len(self), self.shapes[layer].window), end)

    def raw(self, layer: int, start: int, end: int) -> tuple[Tensor, Tensor]:
        """Views of the keys and values of tokens `start` to `end`."""
        return self._keys[layer][:, :, start:end], self._values[layer][:, :, start:end]


def first_visible(position: int, window: int) -> int:
    """The first key that a query at `position` sees; `window` 0: all."""
    return max(0, position - (window - 1)) if window else 0
