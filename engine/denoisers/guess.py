"""Guesses for a causal model's canvas: text that may come next, copied from what is already there.

Owns: where a guess comes from. A guess costs nothing when wrong; when right, one forward pass confirms all of it.
The idea is prompt lookup decoding (Saxena, 2023) on top of Jacobi decoding (Santilli et al., arXiv 2305.10427).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_LONGEST: Final = 6
"""Tokens of the tail that are matched at most."""
_SHORTEST_TEXT: Final = 4
"""Characters of the tail that must match at least."""
_LONGEST_TEXT: Final = 256


class Lookup:
    """Finds what followed the tail of a token sequence the last time."""

    def __init__(self, tokens: Sequence[int]) -> None:
        """`tokens`: everything in view, in reading order; the tail grows with `extend`."""
        self._tokens: list[int] = []
        self._index: dict[tuple[int, ...], int] = {}
        self.extend(tokens)

    def extend(self, tokens: Sequence[int]) -> None:
        """More text behind the tail."""
        for token in tokens:
            self._tokens.append(token)
            end = len(self._tokens) - 1  # the newest token has no successor yet: index what ended before it
            for n in range(1, min(_LONGEST, end) + 1):
                self._index[tuple(self._tokens[end - n : end])] = end

    def guess(self, tail: Sequence[int], n: int, shortest: int = 1) -> list[int]:
        """Up to `n` tokens that followed the longest known match of `tail`'s end, of `shortest` tokens at least."""
        for length in range(min(_LONGEST, len(tail)), shortest - 1, -1):
            start = self._index.get(tuple(tail[-length:]))
            if start is not None:
                return self._tokens[start : start + n]
        return []


def copied_text(prefix: str, suffix: str, n: int) -> str:
    """Up to `n` characters that followed the longest match of the prefix's end, earlier in the prefix or in the suffix.

    By characters, so that a cursor inside a word finds the whole word. Empty when fewer than four characters match.
    """
    best = ""
    shortest = _SHORTEST_TEXT
    for text, end in ((prefix, len(prefix) - 1), (suffix, len(suffix))):
        low, high = shortest, min(_LONGEST_TEXT, len(prefix))
        while low <= high:  # if a tail is found, so are all shorter ones
            middle = (low + high) // 2
            found = text.rfind(prefix[-middle:], 0, end)
            if found >= 0:
                best = text[found + middle : found + middle + n]
                low = shortest = middle + 1
            else:
                high = middle - 1
    return best
