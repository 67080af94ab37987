"""Seeds: texts that may be right as they are, or nearly. Owns: which texts, and as which tokens.

A seed competes with what the denoiser makes in the ranking, and where there are alternatives one row starts from it
in place of noise. It wins only where the model's own causal pass prefers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.denoisers.guess import copied_text
from engine.denoisers.prompt import Prompt
from engine.denoisers.region import RegionReader
from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Fill

_GUESSES: Final = 2
_LINES: Final = 4
"""Of a copy: the further down, the less it has to do with the cursor."""
_CHARACTERS_PER_TOKEN: Final = 4
_LOOKUP_CHARACTERS: Final = 20_000
"""Text on either side that is searched for a copy."""


def seeds(fill: Fill, prompt: Prompt, vocabulary: Vocabulary, reader: RegionReader, room: int) -> list[list[int]]:
    """Regions of at most `room` tokens, the client's guesses first, then a copy; no two alike."""
    try:
        heal = prompt.heal.decode()
    except UnicodeDecodeError:  # half a character: no text can be joined to it
        return []
    found: list[list[int]] = []
    for text in _texts(fill, room):
        tokens = vocabulary.encode(heal + text)
        text = reader.text(tokens).text
        tokens = vocabulary.encode(heal + text)
        if text.strip() and len(tokens) <= room and tokens not in found:
            found.append(tokens)
    return found


def _texts(fill: Fill, room: int) -> Iterator[str]:
    n = _CHARACTERS_PER_TOKEN * room
    yield from (guess for guess in fill.guesses[:_GUESSES] if len(guess) <= n)
    copied = copied_text(fill.prefix[-_LOOKUP_CHARACTERS:], fill.suffix[:_LOOKUP_CHARACTERS], n)
    lines = copied.split("\n")
    if len(copied) == n:
        lines.pop()  # it may go on
    yield "\n".join(lines[:_LINES])
