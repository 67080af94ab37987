"""Bringing a prompt's keys and values up to date, a chunk at a time. Owns: one fill's hold on a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from engine.denoisers.kv_store import KVStore
from engine.denoisers.memory import PromptWriter
from engine.denoisers.prefix_cache import PrefixCache

_CHUNK: Final = {"cpu": 128}
"""Prompt tokens per forward pass: between two chunks others get their turn, and a cancel is seen."""
_CHUNK_ON_GPU: Final = 1024

Encode = Callable[[Sequence[int], PromptWriter], None]
"""Runs the model causally over tokens, writing their keys and values."""


class Prefill:
    """A prompt on its way into the cache."""

    def __init__(self, cache: PrefixCache, tokens: Sequence[int], encode: Encode) -> None:
        self._cache, self._encode = cache, encode
        self._tokens = list(tokens)
        self.store: KVStore
        self.store, self.n_reused = cache.take(self._tokens)
        self._held = True

    @property
    def done(self) -> bool:
        """All keys and values are there."""
        return len(self.store) >= len(self._tokens)

    def advance(self) -> None:
        """Encode the next chunk."""
        start = len(self.store)
        chunk = self._tokens[start : start + _CHUNK.get(self.store.device.type, _CHUNK_ON_GPU)]
        self._encode(chunk, PromptWriter(self.store, len(chunk)))
        self.store.commit(chunk)

    def close(self) -> None:
        """Leave the store to the cache. Safe to call twice."""
        if self._held:
            self._held = False
            self._cache.release(self.store)
