"""The causal pass that scores finished candidates. Owns: mean log-probabilities. Must not know: canvases, noise."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from engine.denoisers.gemma import GemmaForward
from engine.denoisers.kv_store import KVStore
from engine.denoisers.memory import Rows
from engine.denoisers.prompt import Prompt


def score_rows(forward: GemmaForward, store: KVStore, prompt: Prompt, rows: Sequence[Sequence[int]]) -> list[float]:
    """Mean log-probability per token of each row, continuing the prompt's prefix, in nats; all rows in one pass.

    A row is a candidate's tokens and the first ones of the suffix: a candidate is also judged by what must follow it.
    """
    last = prompt.n_scoring - 1  # its successor is the first token to score, so it is fed again
    width = max(len(row) for row in rows)
    if not width:
        return [0.0] * len(rows)
    device = forward.device
    inputs = torch.zeros(len(rows), width, dtype=torch.long, device=device)
    for i, row in enumerate(rows):
        fed = [prompt.tokens[last], *row][: len(row)]
        inputs[i, : len(fed)] = torch.tensor(fed, dtype=torch.long)
    memory = Rows(store, len(rows), width, n_prompt=last)
    memory.expect(width)
    positions = torch.arange(last, last + width, device=device).unsqueeze(0).expand(len(rows), -1)
    masks = {}
    for layer, shape in enumerate(forward.shapes):
        if shape.window not in masks:
            keys = torch.arange(last - memory.visible(layer), last + width, device=device).unsqueeze(0)
            queries = positions[0].unsqueeze(1)
            seen = keys <= queries
            masks[shape.window] = seen & (keys > queries - shape.window) if shape.window else seen
    logits = forward.logits(forward.encode(inputs, positions, memory, dict(masks)))
    scores = []
    for i, row in enumerate(rows):
        if not row:
            scores.append(0.0)
            continue
        chosen = torch.tensor(list(row), device=device).unsqueeze(1)
        scores.append(torch.log_softmax(logits[i, : len(row)], -1).gather(1, chosen).mean().item())
    return scores
