"""Lines that were seen before. Owns: which lines count, and the share of a text that is known.

What is exactly equal needs no such thing; this finds texts that were copied and changed a little.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

_LONG: Final = 30
"""Characters; shorter lines are alike by chance."""


class KnownLines:
    """A set of longer lines."""

    def __init__(self) -> None:
        self._known: set[int] = set()

    def add(self, text: str) -> None:
        """Know the lines of this text."""
        self._known.update(_longer_lines(text))

    def share(self, text: str) -> float:
        """Of the text's different longer lines, how many are known: 0 to 1."""
        lines = set(_longer_lines(text))
        return len(lines & self._known) / len(lines) if lines else 0.0


def _longer_lines(text: str) -> Iterator[int]:
    for line in text.split("\n"):
        stripped = line.strip()
        if len(stripped) >= _LONG and not stripped.startswith("#"):  # licence headers would make strangers alike
            # eight bytes instead of a text: some millions are held
            yield int.from_bytes(hashlib.blake2b(stripped.encode(), digest_size=8).digest(), "little")
