"""A corpus as one file of tokens. Owns: the file's format and windows of it. Must not know: training."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from engine.denoisers.vocabulary import Vocabulary

_END = "<eos>"


class ShardError(ValueError):
    """The file can't be used. The message names the cause and the fix."""


class TokenShard:
    """All texts of a corpus behind each other, each followed by `<eos>`."""

    def __init__(self, tokens: NDArray[Any], fingerprint: str, tokenizer: str) -> None:
        self.tokens, self.fingerprint, self.tokenizer = tokens, fingerprint, tokenizer
        """`fingerprint`: of the tokens. `tokenizer`: hash of the tokenizer that made them."""

    @classmethod
    def open(cls, path: Path) -> TokenShard:
        """Read a file of `write_tokens`. Raises `ShardError`."""
        try:
            with safetensors.safe_open(path, framework="numpy") as file:
                told = file.metadata() or {}
                return cls(file.get_tensor("tokens"), told["fingerprint"], told["tokenizer"])
        except FileNotFoundError:
            raise ShardError(f"there are no tokens in {path}; write them with write_tokens") from None
        except (OSError, KeyError, safetensors.SafetensorError) as error:
            raise ShardError(f"{path} can't be read as tokens ({error})") from None

    def __len__(self) -> int:
        return len(self.tokens)

    def window(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """`n` tokens from anywhere (fewer if there are no more)."""
        start = int(rng.integers(0, max(1, len(self.tokens) - n + 1)))
        found: NDArray[np.int64] = self.tokens[start : start + n].astype(np.int64)
        return found


def write_tokens(
    texts: Iterable[str], checkpoint: Path, size: int, out: Path, tell: Callable[[int], None] = lambda n: None
) -> int:
    """Tokenize `texts` with a checkpoint folder's tokenizer into `out`; returns the number of tokens.

    `size`: rows of the model's embedding. `tell`: takes the number of texts so far.
    """
    vocabulary = Vocabulary(checkpoint, size)
    end = vocabulary.id(_END)
    if end is None:
        raise ShardError(f"{checkpoint}: its tokenizer has no {_END} to put behind each text")
    kind: Any = np.uint16 if size <= 2**16 else np.uint32
    parts: list[NDArray[Any]] = []
    for n, text in enumerate(texts, 1):
        parts.append(np.array([*vocabulary.encode(text), end], dtype=kind))
        tell(n)
    tokens = np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
    told = {"fingerprint": hashlib.sha256(tokens.tobytes()).hexdigest(), "tokenizer": tokenizer_hash(checkpoint)}
    fresh = out.with_name(out.name + ".new")
    out.parent.mkdir(parents=True, exist_ok=True)
    safetensors.numpy.save_file({"tokens": tokens}, fresh, metadata=told)
    fresh.replace(out)
    return len(tokens)


def tokenizer_hash(checkpoint: Path) -> str:
    """SHA-256 of a checkpoint folder's tokenizer."""
    return hashlib.sha256((checkpoint / "tokenizer.json").read_bytes()).hexdigest()
