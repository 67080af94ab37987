"""Slips of the pen in a line of code. Owns: their kinds. Pure: a text and a random generator.

By words of the text, not by tokens of a model, so that no model meets the very noise that it was trained on.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Final

_PIECE: Final = re.compile(r"\w+|\s+|[^\w\s]")
_NAME: Final = re.compile(r"[^\W\d]\w*")
_TRIES: Final = 20


def slipped(line: str, n: int, names: Sequence[str], rng: random.Random) -> str | None:
    """`line` with `n` slips at different words; None where it has too few words.

    A slip: another name of the file (`names`), a near name, a word or sign that is missing, doubled, or swapped with
    the next.
    """
    pieces = _PIECE.findall(line)
    places = [i for i, piece in enumerate(pieces) if not piece.isspace()]
    if len(places) < 2 * n:
        return None
    for _ in range(_TRIES):
        # every second one at most: a swap takes its neighbour along
        chosen = [places[2 * i + rng.randint(0, 1)] for i in sorted(rng.sample(range(len(places) // 2), n))]
        made = list(pieces)
        for place in reversed(chosen):
            made = _slip(made, place, names, rng)
        text = "".join(made)
        if n == 0 or (text.strip() and text != line):
            return text
    return None


def n_words(line: str) -> int:
    """Words and signs, of which a slip takes one or two."""
    return sum(not piece.isspace() for piece in _PIECE.findall(line))


def names_of(text: str) -> list[str]:
    """Names and words of a file, as often as they occur: what a hand on the keyboard may reach for."""
    return _NAME.findall(text)


def _slip(pieces: Sequence[str], place: int, names: Sequence[str], rng: random.Random) -> list[str]:
    piece = pieces[place]
    before, behind = list(pieces[:place]), list(pieces[place + 1 :])
    kinds: list[Callable[[], list[str]]] = [
        lambda: [*before, *behind],
        lambda: [*before, piece, " " if _NAME.match(piece) else "", piece, *behind],
    ]
    after = next((i for i, other in enumerate(behind) if not other.isspace()), None)
    if after is not None and behind[after] != piece:
        kinds.append(lambda: [*before, behind[after], *behind[:after], piece, *behind[after + 1 :]])
    if _NAME.fullmatch(piece):
        others = [name for name in names if name != piece]
        if others:
            kinds.append(lambda: [*before, rng.choice(others), *behind])
        kinds.append(lambda: [*before, _near(piece, rng), *behind])
    return rng.choice(kinds)()


def _near(name: str, rng: random.Random) -> str:
    """A name that looks like it."""
    i = rng.randrange(len(name))
    made = [
        name[:i] + name[i].swapcase() + name[i + 1 :],
        name.removesuffix("s") if name.endswith("s") else name + "s",
        name[:i] + name[i] + name[i:],
        name[:i] + name[i + 1 :],
        name[:i] + name[i + 1 : i + 2] + name[i] + name[i + 2 :],
        name.replace("_", "", 1),
    ]
    fitting = sorted({text for text in made if text != name and _NAME.fullmatch(text)})
    return rng.choice(fitting) if fitting else name + "_"
