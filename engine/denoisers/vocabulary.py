"""Text to tokens and back, byte for byte. Owns: one tokenizer and its byte table. Must not know: prompts, models."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import tokenizers
import torch
from torch import Tensor


class VocabularyError(ValueError):
    """The tokenizer's files can't be used."""


class Vocabulary:
    """One tokenizer. Special tokens are never read out of a user's text, and never written into it."""

    def __init__(self, folder: Path, size: int) -> None:
        """`size`: rows of the model's embedding, which may be more than the tokenizer's. Raises `VocabularyError`."""
        file = folder / "tokenizer.json"
        try:
            stated = json.loads(file.read_text(encoding="utf-8"))
            added = [dict(token) for token in stated["added_tokens"]]
            for token in stated["added_tokens"]:
                token["special"] = True  # the library reads special tokens as plain text when told to, and only those
            self._tokenizer = tokenizers.Tokenizer.from_str(json.dumps(stated))
        except Exception as error:  # the library raises bare Exception
            raise VocabularyError(f"{file} can't be read as a tokenizer: {error}") from None
        self._tokenizer.encode_special_tokens = True
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.size = size
        self.special = frozenset(t["id"] for t in added if t["special"] or _MARKER.fullmatch(t["content"]))
        """Ids that are no text: control tokens, and markers such as `<|fim_prefix|>`."""
        self._byte_level = "ByteLevel" in str(self._tokenizer.decoder)

    def id(self, token: str) -> int | None:
        """Id of a token by its name, None when there is no such token."""
        found: int | None = self._tokenizer.token_to_id(token)
        return found if found is not None and found < self.size else None

    def encode(self, text: str) -> list[int]:
        """Token ids of plain text. Lone surrogates become U+FFFD: no tokenizer can hold them."""
        clean = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        ids: list[int] = self._tokenizer.encode(clean, add_special_tokens=False).ids
        return ids

    def encode_marked(self, text: str) -> list[int]:
        """Token ids of our own text, in which names of special tokens mean the tokens."""
        self._tokenizer.encode_special_tokens = False
        try:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        finally:
            self._tokenizer.encode_special_tokens = True
        return ids

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes that the tokens stand for; special tokens stand for none."""
        return b"".join(self._pieces[i] for i in ids)

    @cached_property
    def silent(self) -> frozenset[int]:
        """Ids that stand for no text: special tokens, and rows of the embedding that no token has."""
        return frozenset(i for i, piece in enumerate(self._pieces) if not piece)

    @cached_property
    def banned(self) -> Tensor:
        """The silent ids, `[n]`: they may never be put into a region."""
        return torch.tensor(sorted(self.silent), dtype=torch.long)

    def starting_with(self, start: bytes) -> list[int]:
        """Ids of all tokens whose bytes begin with `start`."""
        first = bisect.bisect_left(self._sorted, (start, -1))
        found = []
        for piece, index in self._sorted[first:]:
            if not piece.startswith(start):
                break
            found.append(index)
        return found

    def continuing(self, rest: bytes) -> list[int]:
        """Ids that agree with `rest` as far as they go: they begin with it, or it begins with them."""
        found = self.starting_with(rest)
        for n in range(1, len(rest)):
            found += self._exact.get(rest[:n], ())
        return found

    @cached_property
    def _pieces(self) -> list[bytes]:
        pieces = [b""] * self.size
        for token, index in self._tokenizer.get_vocab(with_added_tokens=True).items():
            if index < self.size and index not in self.special:
                pieces[index] = _byte_level(token) if self._byte_level else _sentence_piece(token)
        return pieces

    @cached_property
    def _sorted(self) -> list[tuple[bytes, int]]:
        return sorted((piece, i) for i, piece in enumerate(self._pieces) if piece)

    @cached_property
    def _exact(self) -> dict[bytes, list[int]]:
        exact: dict[bytes, list[int]] = {}
        for piece, index in self._sorted:
            exact.setdefault(piece, []).append(index)
        return exact


_MARKER = re.compile(r"<\|[\w▁-]+\|?>")
"""Names of added tokens that are markers though not flagged special (Qwen's `<|fim_prefix|>`). Other added tokens,
such as HTML tags, are text."""


def _byte_alphabet() -> dict[str, int]:
    """The printable stand-ins of byte-level BPE (GPT-2): printable bytes stand for themselves, the rest from U+0100."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(b): b for b in plain}
    others = (b for b in range(256) if b not in set(plain))
    alphabet.update({chr(0x100 + n): b for n, b in enumerate(others)})
    return alphabet


_ALPHABET = _byte_alphabet()


def _byte_level(token: str) -> bytes:
    try:
        return bytes(_ALPHABET[c] for c in token)
    except KeyError:  # an added token is spelt in plain text
        return token.encode()


def _sentence_piece(token: str) -> bytes:
    if match := re.fullmatch(r"<0x([0-9A-Fa-f]{2})>", token):
        return bytes([int(match[1], 16)])
    return token.replace("▁", " ").encode()
