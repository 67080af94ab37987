"""Tokens that are easily taken for each other. Owns: which tokens of one vocabulary are near a token, by their text.

Must not know: canvases, noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from engine.denoisers.vocabulary import Vocabulary

_WORD: Final = re.compile(rb"( ?)([A-Za-z_]+)")
_LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz_"
_LONGEST: Final = 16


class NearNames:
    """For a word of the vocabulary: its other forms, and words one letter away. Found when asked for, and kept."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known: dict[int, tuple[int, ...]] = {}

    def __call__(self, token: int) -> tuple[int, ...]:
        """Tokens near this one, without itself; none where it is no word."""
        found = self._known.get(token)
        if found is None:
            texts = dict.fromkeys(_near(self._vocabulary.decode([token])))
            ids = (self._ids.get(text) for text in texts)
            found = self._known[token] = tuple(one for one in ids if one is not None and one != token)
        return found

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        texts = ((self._vocabulary.decode([token]), token) for token in range(self._vocabulary.size))
        return {text: token for text, token in texts if _WORD.fullmatch(text)}


def _near(text: bytes) -> Iterator[bytes]:
    match = _WORD.fullmatch(text)
    if match is None or len(text) > _LONGEST:
        return
    space, word = match[1], match[2]
    yield (b"" if space else b" ") + word
    for form in (word.lower(), word.upper(), word[:1].upper() + word[1:], word + b"s", word + b"es"):
        yield space + form
    for ending in (b"s", b"es"):
        if word.endswith(ending) and len(word) > len(ending):
            yield space + word.removesuffix(ending)
    for changed in _one_letter_away(word):
        yield space + changed


def _one_letter_away(word: bytes) -> Iterator[bytes]:
    for at in range(len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in _LETTERS:
            one = bytes([letter])
            if len(word) > 1:
                yield head + one + tail
            if tail:
                yield head + one + tail[1:]
        if len(tail) > 1:
            yield head + tail[1:2] + tail[:1] + tail[2:]
        if tail and len(word) > 1:
            yield head + tail[1:]
