"""Stores of recent prompts, found again by longest common token prefix. Owns: which stores are kept.

Bounded by bytes, least recently used first out. A store that a fill reads from is neither cut nor dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from engine.denoisers.kv_store import KVStore

_SMALL_CUT = 0.25
"""Share of a store that may be cut away for a new prompt; above it the store is forked, so that both live on."""


class PrefixCache:
    """Prompts' keys and values, reused across fills."""

    def __init__(self, make: Callable[[], KVStore], max_bytes: int) -> None:
        self._make = make
        self._max_bytes = max_bytes
        self._stores: list[KVStore] = []  # least recently used first

    @property
    def n_bytes(self) -> int:
        """Memory held, in bytes."""
        return sum(store.n_bytes for store in self._stores)

    @property
    def n_tokens(self) -> int:
        """Tokens held."""
        return sum(len(store) for store in self._stores)

    def take(self, tokens: Sequence[int]) -> tuple[KVStore, int]:
        """A store that holds a prefix of `tokens` and nothing else, and that prefix's length.

        The caller writes the rest into it, reads from it, and gives it back with `release`.
        """
        best, n = None, 0
        for store in self._stores:
            if (common := store.common_prefix(tokens)) > n:
                best, n = store, common
        if best is None:
            best = self._make()
        else:
            shared = best.n_users and (n < len(best) or n < len(tokens))  # others read from it, or write behind it
            if shared or n < len(best) * (1 - _SMALL_CUT):
                best = best.fork(n)
            elif n < len(best):
                best.truncate(n)
        best.n_users += 1
        self._stores = [store for store in self._stores if store is not best] + [best]
        self._evict()
        return best, n

    def release(self, store: KVStore) -> None:
        """The fill is done with `store`."""
        store.n_users -= 1
        self._evict()

    def clear(self) -> None:
        """Drop all that nobody uses: memory is short."""
        self._stores = [store for store in self._stores if store.n_users]
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _evict(self) -> None:
        excess = self.n_bytes - self._max_bytes
        for store in list(self._stores[:-1]):  # never the newest
            if excess <= 0:
                break
            if not store.n_users:
                excess -= store.n_bytes
                self._stores.remove(store)
