"""One text of the corpus. Owns: its name, its hash, and which texts are kept for validation."""

from __future__ import annotations

import hashlib
from typing import Final

from attrs import frozen

_VALIDATION: Final = 100
"""One text in so many is kept for validation."""


@frozen
class SourceText:
    """One file of a package."""

    package: str
    path: str
    """Within the wheel."""
    text: str
    """Line ends are `\\n`."""

    @property
    def sha256(self) -> str:
        """Of the text alone."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def for_validation(self) -> bool:
        """Whether no training may see it. The text decides, so that no rebuild moves it to the other side."""
        return int(self.sha256[:16], 16) % _VALIDATION == 0
