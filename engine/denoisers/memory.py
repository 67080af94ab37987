"""What a forward pass reads and writes through attention: a prompt's store, or rows over a shared prompt.

Owns: where new keys and values go, and which of them a query sees. Must not know: models' layers, requests.
Both classes answer `update(keys, values, layer)` with all keys and values to attend to, and so stand in for the
caches of `transformers`, whose attention layers call just that.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.denoisers.kv_store import KVStore, first_visible


class PromptWriter:
    """Causal encoding of the next `n_new` prompt tokens into a store (one row)."""

    is_compileable = False

    def __init__(self, store: KVStore, n_new: int) -> None:
        self.store = store
        self._end = len(store) + n_new
        store.reserve(self._end)

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Store `[1, heads, n_new, head_dim]`; return all that these queries may see."""
        self.store.write(layer, keys, values)
        return self.store.view(layer, self._end)

    def get_seq_length(self, layer: int = 0) -> int:
        """Tokens before the new ones."""
        return len(self.store)

    def mask(self, window: int) -> Tensor | None:
        """Who sees whom, `[n_new, n_keys]`, True to attend; None when a single query sees all."""
        n = len(self.store)
        if self._end - n == 1:
            return None
        queries = torch.arange(n, self._end).unsqueeze(1)
        keys = torch.arange(first_visible(n, window), self._end).unsqueeze(0)
        seen = keys <= queries
        return seen & (keys > queries - window) if window else seen


class Rows:
    """Rows of cells over one shared prompt; buffers `[rows, heads, visible prompt + capacity, head_dim]`.

    The prompt's keys are copied in once, so that a step writes only its own cells and reads one contiguous buffer.
    """

    is_compileable = False

    def __init__(self, store: KVStore, n_rows: int, capacity: int, n_prompt: int | None = None) -> None:
        self.n_prompt = len(store) if n_prompt is None else n_prompt
        self.capacity = capacity
        self.starts = [0] * n_rows
        """Cell at which each row writes next; a causal row's accepted tokens come before it."""
        self._buffers: list[tuple[Tensor, Tensor]] = []
        self._visible: list[int] = []
        for layer, shape in enumerate(store.shapes):
            start = first_visible(self.n_prompt, shape.window)
            keys, values = store.raw(layer, start, self.n_prompt)
            visible = self.n_prompt - start
            pair = []
            for source in (keys, values):
                # Zeros: a masked key has weight 0, and 0 times whatever lay in fresh memory may be nan.
                buffer = source.new_zeros(n_rows, shape.n_heads, visible + capacity, shape.head_dim)
                buffer[:, :, :visible] = source
                pair.append(buffer)
            self._buffers.append((pair[0], pair[1]))
            self._visible.append(visible)
        self._n_new = 0

    def expect(self, n_new: int) -> None:
        """The next pass writes `n_new` cells per row."""
        assert max(self.starts) + n_new <= self.capacity
        self._n_new = n_new

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Store `[rows, heads, n_new, head_dim]` at each row's start; return the prompt and all cells so far."""
        visible, n_new = self._visible[layer], self._n_new
        pair = self._buffers[layer]
        end = visible + max(self.starts) + n_new
        for buffer, new in zip(pair, (keys, values), strict=True):
            if len(set(self.starts)) == 1:
                buffer[:, :, end - n_new : end] = new
            else:
                for row, start in enumerate(self.starts):
                    buffer[row, :, visible + start : visible + start + n_new] = new[row]
        return pair[0][:, :, :end], pair[1][:, :, :end]

    def get_seq_length(self, layer: int = 0) -> int:
        """Tokens before the new ones (of the first row)."""
        return self.n_prompt + self.starts[0]

    def visible(self, layer: int) -> int:
        """Prompt keys that `layer` holds here."""
        return self._visible[layer]
