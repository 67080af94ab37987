"""From a hole to tokens, exactly as the engine would ask. Owns: prompt sizes, the seam between prompt and middle.

Uses the prompt builder and the vocabulary that serve the model. Must not know: files of examples, noise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from engine.denoisers.denoiser import DenoiserError
from engine.denoisers.prompt import PromptBuilder, load_format
from engine.denoisers.vocabulary import Vocabulary, VocabularyError
from engine.protocol import Fill, Snippet
from engine.training.holes import Hole

NEAR: Final = 8
"""Suffix tokens that are kept at least, for models that clamp them though their prompt quotes them too."""
_LEAST_PROMPT: Final = 32
_SIZES: Final = (0.5, 0.75, 1.0)
"""Prompts are built in windows of these shares of the longest, so that short contexts are seen as well."""


class ExampleError(ValueError):
    """Examples can't be made or used. The message names the cause and the fix."""


@frozen(eq=False)
class Example:
    """A hole as tokens."""

    prompt: NDArray[np.uint32]
    middle: NDArray[np.uint32]
    """What is missing; it begins with what was withdrawn from the prompt's end (token healing)."""
    near: NDArray[np.uint32]
    """The suffix's first tokens."""
    kind: str
    """See `engine.training.holes.HoleKind`."""


class HoleTokens:
    """Makes examples for one model."""

    def __init__(self, checkpoint: Path, prompt_tokens: int, middle_tokens: int) -> None:
        """`checkpoint`: the model's folder; of it the tokenizer and the prompt's format are read, not the weights.

        `prompt_tokens`: longest prompt. `middle_tokens`: longest middle; one that no region holds is too long as well.
        Raises `ExampleError`.
        """
        if prompt_tokens < _LEAST_PROMPT or middle_tokens < 1:
            raise ExampleError(f"prompts must have {_LEAST_PROMPT} tokens or more, middles 1 or more")
        self.vocabulary = vocabulary_of(checkpoint)
        try:
            fim = load_format(checkpoint, self.vocabulary)
        except DenoiserError as error:
            raise ExampleError(str(error)) from None
        if fim.chat:
            raise ExampleError(f"{checkpoint}: only models with fill-in-the-middle tokens are trained, not chats")
        self.sizes = tuple(max(_LEAST_PROMPT, round(share * prompt_tokens)) for share in _SIZES)
        self.quotes = "{snippets}" in fim.layout
        """Whether its prompts take snippets."""
        self._builders = [PromptBuilder(self.vocabulary, fim, size) for size in self.sizes]
        self._most = min(middle_tokens, max(fim.regions) - 1)
        self._n_near = max(NEAR, fim.near_suffix)

    def make(self, hole: Hole, size: int, snippets: Sequence[Snippet] = ()) -> Example | None:
        """`size`: index into `sizes`. None: the middle is too long, or tokens don't give the text back."""
        fill = Fill("", hole.prefix, hole.suffix, language="python", path=hole.path, snippets=tuple(snippets))
        prompt = self._builders[size].build(fill)
        try:
            healed = prompt.heal.decode()
        except UnicodeDecodeError:  # the withdrawn token is a part of a character
            return None
        middle = self.vocabulary.encode(healed + hole.middle)
        if len(middle) > self._most:
            return None
        text = self.vocabulary.decode([*prompt.prefix, *middle])
        if not (hole.prefix + hole.middle).encode("utf-8", "surrogatepass").endswith(text):
            return None  # a tokenizer that normalizes: its model can't be asked to write this
        near = prompt.suffix[: self._n_near]
        return Example(_ids(prompt.tokens), _ids(middle), _ids(near), hole.kind)


def vocabulary_of(checkpoint: Path) -> Vocabulary:
    """A checkpoint folder's vocabulary, without its weights. Raises `ExampleError`."""
    file = checkpoint / "config.json"
    try:
        stated = json.loads(file.read_text(encoding="utf-8"))
        return Vocabulary(checkpoint, int(stated.get("text_config", stated)["vocab_size"]))
    except VocabularyError as error:
        raise ExampleError(str(error)) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExampleError(f"{file} can't be read as a model's configuration: {error}") from None


def _ids(tokens: Sequence[int]) -> NDArray[np.uint32]:
    return np.array(tokens, dtype=np.uint32)
