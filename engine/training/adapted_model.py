"""A causal model with an adapter on it, as training sees it. Owns: its passes over prompts, its own text, and canvases.

Must not know: losses, noise, steps. The base weights are frozen; what is trained acts on canvas cells alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import peft
import torch
import transformers
from attrs import frozen
from torch import Tensor, nn

from engine.denoisers import attention
from engine.denoisers.vocabulary import Vocabulary
from engine.training.canvases import MASK, Canvas
from engine.training.examples import Example

_PROJECTIONS: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_NO: Final = -1e4
"""Added to an attention score to forbid it; finite, so that a row of padding does not become nan."""
_END: Final = 1_000_000
"""Line ends that a token which ends a text counts for."""


@frozen(eq=False)
class Encoded:
    """Prompts and true middles of a batch, through the base weights."""

    keys: list[tuple[Tensor, Tensor]]
    """Per layer `[examples, heads, tokens, head_dim]`."""
    lengths: list[int]
    """Prompt tokens of each example."""


class Behind:
    """Stands in for the library's cache: canvas cells attend to what is kept, and to each other; nothing is added."""

    is_compileable = False

    def __init__(self, kept: Sequence[tuple[Tensor, Tensor]]) -> None:
        self._kept = kept

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """All keys and values to attend to."""
        kept_keys, kept_values = self._kept[layer]
        return torch.cat((kept_keys, keys), dim=2), torch.cat((kept_values, values), dim=2)

    def get_seq_length(self, layer: int = 0) -> int:
        """Tokens before the cells."""
        return self._kept[0][0].shape[2]


class AdaptedModel:
    """The frozen base, a LoRA on all projections, and the embedding of a masked cell."""

    def __init__(self, base: Path, rank: int, seed: int, device: torch.device, dtype: torch.dtype) -> None:
        """`base`: the checkpoint's folder."""
        attention.register()
        network: Any = transformers.AutoModelForCausalLM.from_pretrained(base, dtype=dtype, local_files_only=True)
        network.set_attn_implementation(attention.NAME)
        network.to(device).requires_grad_(False)
        vocabulary = Vocabulary(base, network.config.get_text_config().vocab_size)
        self.device = device
        self.fill_name, self.fill = fill_token(vocabulary)
        self._ends = [vocabulary.decode((token,)).count(b"\n") for token in range(vocabulary.size)]
        for token in vocabulary.silent:
            self._ends[token] = _END
        config = peft.LoraConfig(r=rank, lora_alpha=rank, target_modules=list(_PROJECTIONS))
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of one library about the other
            torch.manual_seed(seed)
            self.peft: Any = peft.get_peft_model(network, config)
        self._body: Any = network.base_model
        self.head: Any = network.get_output_embeddings()
        """Hidden states to logits."""
        self._embed: Any = network.get_input_embeddings()
        pad = vocabulary.id("<|fim_pad|>")
        start = vocabulary.encode(" ...")[0] if pad is None else pad
        self.mask = nn.Parameter(self._embed.weight[start].float().clone())
        """The embedding of a masked cell, `[hidden]`. It starts as a token that stands for something missing: half the
        first loss of the mean of all embeddings, which is like no token that the model knows."""

    def encode(self, examples: Sequence[Example]) -> tuple[Encoded, int]:
        """Prompts with their true middles behind them, padded on the right; and how many tokens were run."""
        rows = [[*map(int, e.prompt), *map(int, e.middle)] for e in examples]
        width = max(map(len, rows))
        ids = torch.full((len(rows), width), self.fill)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
        cache = transformers.DynamicCache()
        mask = torch.ones(width, width, dtype=torch.bool, device=self.device).tril()[None, None]
        body = self._body
        body(
            input_ids=ids.to(self.device),
            position_ids=torch.arange(width, device=self.device).unsqueeze(0),
            attention_mask=mask.expand(len(rows), -1, -1, -1),
            cache=cache,
            use_cache=True,
        )
        layers: Any = cache.layers
        keys = [(layer.keys, layer.values) for layer in layers]
        return Encoded(keys, [len(e.prompt) for e in examples]), ids.numel()

    def greedy(
        self, examples: Sequence[Example], encoded: Encoded, begun: Sequence[int], most: int
    ) -> tuple[list[list[int]], int]:
        """What the base writes behind the first `begun` tokens of each middle: `most` tokens, the truth's lines.

        Returns that text for each example, and how many tokens were run.
        """
        n_rows = len(examples)
        own: list[list[int]] = [[] for _ in examples]
        live = [len(e.middle) > 0 for e in examples]
        if not any(live):
            return own, 0
        last = [
            int(e.middle[g - 1]) if len(e.middle) else int(e.prompt[-1]) for e, g in zip(examples, begun, strict=True)
        ]
        left = [sum(self._ends[int(t)] for t in e.middle[g:]) for e, g in zip(examples, begun, strict=True)]
        place = [n + g - 1 if ok else n - 1 for n, g, ok in zip(encoded.lengths, begun, live, strict=True)]
        width = encoded.keys[0][0].shape[2]
        cache = transformers.DynamicCache()
        for layer, (keys, values) in enumerate(encoded.keys):
            cache.update(keys, values, layer)
        kept = torch.arange(width, device=self.device) < torch.tensor(place, device=self.device).unsqueeze(1)
        tokens = torch.tensor(last, device=self.device).unsqueeze(1)
        positions = torch.tensor(place, device=self.device).unsqueeze(1)
        n = 0
        while n < most and any(live):
            n += 1
            seen = torch.cat((kept, torch.ones(n_rows, n, dtype=torch.bool, device=self.device)), 1)[:, None, None, :]
            hidden = self._body(
                input_ids=tokens, position_ids=positions, attention_mask=seen, cache=cache, use_cache=True
            ).last_hidden_state
            tokens = self.head(hidden[:, -1]).argmax(-1, keepdim=True)
            positions = positions + 1
            for i, token in enumerate(tokens.squeeze(1).tolist()):
                left[i] -= self._ends[token]
                live[i] = live[i] and left[i] >= 0
                if live[i]:
                    own[i].append(token)
        return own, n * n_rows

    def denoise(
        self,
        examples: Sequence[Example],
        canvases: Sequence[Sequence[Canvas]],
        encoded: Encoded,
        n_near: int,
        opened: float,
    ) -> Tensor:
        """Hidden states `[examples, canvases, 1 + region + near, hidden]` of the canvases' cells.

        A canvas sees the tokens before its pending one, through the base weights, and itself. `opened`: how much of
        what lies to the right of a cell it sees, from 0 to 1.
        """
        n_rows, n_canvases, n_region = len(examples), len(canvases[0]), len(canvases[0][0].inputs)
        width = 1 + n_region + n_near
        n_kept = encoded.keys[0][0].shape[2]
        ids = torch.zeros(n_rows, n_canvases, width, dtype=torch.long)
        there = torch.ones(n_rows, n_canvases, width, dtype=torch.bool)
        starts = torch.zeros(n_rows, n_canvases, dtype=torch.long)
        for i, (example, row) in enumerate(zip(examples, canvases, strict=True)):
            near = torch.tensor(example.near[:n_near].astype(np.int64))
            before = [*map(int, example.prompt), *map(int, example.middle)]
            for j, canvas in enumerate(row):
                starts[i, j] = len(example.prompt) - 1 + canvas.start
                ids[i, j, 0] = before[int(starts[i, j])]
                ids[i, j, 1 : 1 + n_region] = torch.from_numpy(canvas.inputs)
                ids[i, j, 1 + n_region : 1 + n_region + len(near)] = near
                there[i, j, 1 + n_region + len(near) :] = False
        ids, there, starts = ids.to(self.device), there.to(self.device), starts.to(self.device)
        masked = ids == MASK
        embedded = self._embed(ids.clamp_min(0))
        embedded = torch.where(masked.unsqueeze(-1), self.mask.to(embedded.dtype), embedded)
        positions = starts.unsqueeze(-1) + torch.arange(width, device=self.device)
        kept = torch.arange(n_kept, device=self.device) < starts.unsqueeze(-1)  # [rows, canvases, kept]
        bias = torch.zeros(width, width, device=self.device)
        right = torch.ones(width, width, dtype=torch.bool, device=self.device).triu(1)
        bias[right] = max(_NO, math.log(max(opened, 1e-9))) if opened < 1 else 0.0
        inside = torch.where(there.unsqueeze(2), bias, _NO)  # [rows, canvases, cells, cells]
        outside = torch.where(kept, 0.0, _NO).unsqueeze(2).expand(-1, -1, width, -1)
        mask = torch.full(
            (n_rows, n_canvases, width, n_kept + n_canvases * width), _NO, dtype=embedded.dtype, device=self.device
        )
        mask[..., :n_kept] = outside
        for j in range(n_canvases):
            start = n_kept + j * width
            mask[:, j, :, start : start + width] = inside[:, j]
        hidden: Tensor = self._body(
            inputs_embeds=embedded.reshape(n_rows, n_canvases * width, -1),
            position_ids=positions.reshape(n_rows, -1),
            attention_mask=mask.reshape(n_rows, 1, n_canvases * width, -1),
            cache=Behind(encoded.keys),
            use_cache=True,
        ).last_hidden_state
        return hidden.reshape(n_rows, n_canvases, width, -1)


def fill_token(vocabulary: Vocabulary) -> tuple[str, int]:
    """The token behind a text's end, name and id: the model's own end of text."""
    for name in ("<|endoftext|>", "</s>", "<eos>"):
        if (token := vocabulary.id(name)) is not None:
            return name, token
    raise ValueError("the tokenizer has no end of text (<|endoftext|>, </s> or <eos>) to fill a region with")
