"""The data folder of a training run on a GPU. Owns: its files' names, and what is in them when it is packed small.

adapt.safetensors, adapt-valid.safetensors   examples for the adaptation, in its base's tokens
tiny.safetensors, tiny-valid.safetensors     examples for the tiny model, in the bundled tokenizer's
tokens.safetensors                           the corpus, likewise
cases.jsonl.gz                               held-out cases; may be missing
"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen


@frozen
class Data:
    """A data folder."""

    folder: Path

    @property
    def adapt(self) -> Path:
        """Examples to train an adaptation on."""
        return self.folder / "adapt.safetensors"

    @property
    def adapt_valid(self) -> Path:
        """Examples to validate it on."""
        return self.folder / "adapt-valid.safetensors"

    @property
    def tiny(self) -> Path:
        """Examples to train the tiny model on."""
        return self.folder / "tiny.safetensors"

    @property
    def tiny_valid(self) -> Path:
        """Examples to validate it on."""
        return self.folder / "tiny-valid.safetensors"

    @property
    def tokens(self) -> Path:
        """The corpus."""
        return self.folder / "tokens.safetensors"

    @property
    def cases(self) -> Path | None:
        """Held-out cases, if there are any."""
        file = self.folder / "cases.jsonl.gz"
        return file if file.is_file() else None

    def missing(self) -> list[str]:
        """Names of files that must be there and are not."""
        needed = (self.adapt, self.adapt_valid, self.tiny, self.tiny_valid, self.tokens)
        return [file.name for file in needed if not file.is_file()]
