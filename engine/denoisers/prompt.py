"""From a fill to prompt tokens. Owns: windows, order and markers of a prompt. Must not know: models, sockets.

The order is what keeps the prefix cache alive: while somebody types, tokens are only appended, so whatever changes
least comes first, and windows start at boundaries that move in strides.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import attrs
import cattrs
from attrs import frozen

from engine.denoisers.denoiser import DenoiserError
from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Fill

_CHARACTERS_PER_TOKEN: Final = 3
"""A low estimate, to tokenize no more text than can be used."""
_PATH_CHARACTERS: Final = 120
"""The end of a file's path that is told to the model."""
_STRIDES: Final = 4
"""A window's start moves by a quarter of the window."""


@frozen
class FimFormat:
    """How a checkpoint wants a hole described; `fim` in its `midfill.json`, else these defaults."""

    layout: tuple[str, ...] = (
        "{snippets}",
        "<|fim_prefix|>",
        "<|fim_suffix|>",
        "{suffix}",
        "<|fim_middle|>",
        "{prefix}",
    )
    """The prompt: names of tokens, and `{snippets}`, `{suffix}`, `{prefix}` for the texts. The default is the usual
    prefix-suffix-middle form with an empty prefix, and the real prefix as the beginning of the middle: models answer
    it as well (docs/evaluation.md), and typing only appends."""
    chat: str = ""
    """In place of `layout`, for models that only follow instructions: a rendered chat with `{suffix}`, `{language}` and
    `{prefix}` in it, control tokens and all (see `engine.denoisers.chat`)."""
    end: str = "<|fim_pad|>"
    """Token that fills up a region behind its text. Empty: there is none, and candidates of several sizes compete."""
    file: str = "<|file_sep|>"
    """Token that opens another file's text (a snippet); a model without it gets no snippets."""
    context_tokens: int = 0
    """Longest prompt that the model was trained with; 0: whatever the engine allows."""
    far_suffix: int = 256
    """Suffix tokens quoted in the prompt."""
    near_suffix: int = 0
    """Suffix tokens clamped on the canvas, behind the region."""
    regions: tuple[int, ...] = (16, 32, 64, 128, 256)
    """Region sizes in cells."""
    heals_line_ends: bool = False
    """Withdraw a last prefix token that ends with a line end as well: right where the tokenizer joins a line end with
    the next line's indentation. Elsewhere a finished line is a clean boundary, and withdrawing its end makes the model
    add blank lines (docs/evaluation.md)."""


@frozen
class Prompt:
    """What is encoded once, and what the region begins and ends with."""

    tokens: tuple[int, ...]
    n_scoring: int
    """Tokens up to the prefix's end: the causal pass that ranks candidates continues from there."""
    heal: bytes
    """Text of the last prefix token, withdrawn: the region must begin with it (token healing)."""
    near: tuple[int, ...]
    """Suffix tokens for the canvas."""
    prefix: tuple[int, ...]
    """The prefix's tokens alone, as far as they are in the prompt."""
    suffix: tuple[int, ...]
    """The suffix's tokens alone, near and far."""


_TEXTS: Final = ("{snippets}", "{suffix}", "{prefix}", "{language}")


def load_format(folder: Path, vocabulary: Vocabulary) -> FimFormat:
    """The checkpoint's format. Raises `DenoiserError` when the model cannot infill."""
    file = folder / "midfill.json"
    try:
        stated = json.loads(file.read_text(encoding="utf-8")).get("fim", {}) if file.exists() else {}
        fim = cattrs.Converter(forbid_extra_keys=True).structure(stated, FimFormat)
    except (OSError, ValueError, AttributeError, cattrs.BaseValidationError) as error:
        told = "; ".join(cattrs.transform_error(error)) if isinstance(error, cattrs.BaseValidationError) else error
        raise DenoiserError(f"{file}: `fim` can't be read ({told})") from None
    for name in (*(fim.layout if not fim.chat else ()), *([fim.end] if fim.end else [])):
        if name not in _TEXTS and vocabulary.id(name) is None:
            raise DenoiserError(
                f"{folder}: this model cannot infill: its tokenizer has no token {name!r}. Choose a model with"
                " fill-in-the-middle tokens, or name its own under `fim` in a midfill.json beside its config.json"
            )
    return fim


class PromptBuilder:
    """Builds prompts for one model."""

    def __init__(self, vocabulary: Vocabulary, fim: FimFormat, context_tokens: int) -> None:
        self._vocabulary, self.fim = vocabulary, fim
        self.context_tokens = min(context_tokens, fim.context_tokens or context_tokens)
        parts = re.split(f"({'|'.join(map(re.escape, _TEXTS))})", fim.chat) if fim.chat else fim.layout
        self._parts: list[str | list[int]] = [part if part in _TEXTS else self._fixed(part) for part in parts]
        """The prompt in order: names of texts, and what is the same for all fills."""
        self._file = vocabulary.id(fim.file) if "{snippets}" in self._parts else None
        self._n_fixed = sum(len(part) for part in self._parts if isinstance(part, list))

    def _fixed(self, part: str) -> list[int]:
        index = self._vocabulary.id(part)
        return [index] if index is not None else self._vocabulary.encode_marked(part)

    def build(self, fill: Fill) -> Prompt:
        """Tokens of the whole prompt of a fill with plain lines."""
        fim, encode = self.fim, self._vocabulary.encode
        language = encode(fill.language[:40])
        budget = max(8, self.context_tokens - self._n_fixed - len(language))
        far_budget = min(fim.far_suffix, budget // 4)
        suffix = encode(fill.suffix[: (far_budget + fim.near_suffix) * 2 * _CHARACTERS_PER_TOKEN])
        near, far = suffix[: fim.near_suffix], suffix[fim.near_suffix :][:far_budget]
        snippets = self._snippets(fill, budget // 3)
        prefix = self._prefix(fill.prefix, budget - len(far) - len(snippets))
        heal = self._vocabulary.decode(prefix[-1:])
        if heal.endswith(b"\n") and not fim.heals_line_ends:
            heal = b""
        elif heal:
            prefix = prefix[:-1]
        texts = dict(zip(_TEXTS, (snippets, far, prefix, language), strict=True))
        tokens: list[int] = []
        n_scoring = 0
        for part in self._parts:
            tokens += part if isinstance(part, list) else texts[part]
            if part == "{prefix}":
                n_scoring = len(tokens)
        return Prompt(tuple(tokens), n_scoring, heal, tuple(near), tuple(prefix), (*near, *far))

    def _snippets(self, fill: Fill, budget: int) -> list[int]:
        tokens: list[int] = []
        if self._file is None:
            return tokens
        for snippet in fill.snippets:
            text = f"{snippet.path[-_PATH_CHARACTERS:]}\n{snippet.text}"[: budget * 2 * _CHARACTERS_PER_TOKEN]
            more = [self._file, *self._vocabulary.encode(text)]
            if len(tokens) + len(more) > budget - _PATH_CHARACTERS // _CHARACTERS_PER_TOKEN:
                break
            tokens += more
        if tokens:
            tokens += [self._file, *self._vocabulary.encode(f"{fill.path[-_PATH_CHARACTERS:]}\n")]
        return tokens

    def _prefix(self, text: str, budget: int) -> list[int]:
        tokens = self._vocabulary.encode(text[window_start(text, budget * _CHARACTERS_PER_TOKEN) :])
        return tokens[strided(len(tokens), budget) :]


def with_plain_lines(fill: Fill) -> Fill:
    r"""The fill with every line end as `\n`, whatever the document uses: models know no other."""
    prefix, suffix = _plain_lines(fill.prefix), _plain_lines(fill.suffix)
    return attrs.evolve(fill, prefix=prefix, suffix=suffix, guesses=tuple(map(_plain_lines, fill.guesses)))


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def window_start(text: str, size: int) -> int:
    """Where a window of about `size` characters at the end of `text` starts: in strides, at a line's start if near."""
    start = strided(len(text), size)
    if not start:
        return 0
    line = text.find("\n", start, start + size // _STRIDES) + 1
    return line or start


def strided(length: int, size: int) -> int:
    """The first of `length` items to keep so that at most `size` are left; moves in strides of `size // 4`."""
    stride = max(1, size // _STRIDES)
    return -(-max(0, length - size) // stride) * stride
