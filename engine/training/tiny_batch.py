"""A sheet on the device, and a tiny network's passes over it. Owns: masks, precision, compilation.

Must not know: stages, noise, where sheets come from.
"""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional as F

from engine.training.sheets import Sheet
from engine.training.tiny_model import trained
from engine.training.tiny_pass import TinyPass

_NO: Final = -1e4
"""Added to an attention score to forbid it; finite, so that no row of padding becomes nan."""
_GRAPHS: Final = 64
"""Compiled graphs that may be kept: each pass has one for each stage, with and without gradients."""


class Batch:
    """A sheet's tensors."""

    def __init__(self, sheet: Sheet, device: torch.device) -> None:
        def to(array: Any) -> Tensor:
            return torch.from_numpy(array).to(device, non_blocking=True)

        self.tokens, self.places = to(sheet.tokens), to(sheet.places)
        self.following, self.counts = to(sheet.following), to(sheet.counts)
        self.cells, self.cell_places = to(sheet.cells), to(sheet.cell_places)
        self.targets, self.weights, self.free = to(sheet.targets), to(sheet.weights), to(sheet.free)
        documents, of = to(sheet.documents), to(sheet.cell_documents)
        canvases, starts = to(sheet.canvases), to(sheet.starts)
        causal = self.places.unsqueeze(1) <= self.places.unsqueeze(2)
        self.context_bias = _bias((documents.unsqueeze(1) == documents.unsqueeze(2)) & causal)
        """`[rows, 1, tokens, tokens]`."""
        before = self.places.unsqueeze(1) < starts.unsqueeze(2)
        context = (documents.unsqueeze(1) == of.unsqueeze(2)) & before
        inside = canvases.unsqueeze(1) == canvases.unsqueeze(2)
        self.cell_bias = _bias(torch.cat((context, inside), 2))
        """`[rows, 1, cells, tokens + cells]`."""


class TinyNetwork:
    """The network and its trained weights, which share memory."""

    def __init__(self, network: Any, places: int, device: torch.device, half: bool, compiled: bool) -> None:
        """`places`: positions that a document and a canvas behind it may need."""
        self.network, self.weights = network, trained(network)
        self.device, self._half = device, half
        self._pass = TinyPass(network, self.weights, places).to(device)
        passes: list[Any] = [self._pass.encode, self._pass.decode, self._cell_losses, self._beliefs]
        if compiled:
            torch._dynamo.config.recompile_limit = max(_GRAPHS, torch._dynamo.config.recompile_limit)
            passes = [torch.compile(one, dynamic=False) for one in passes]
        self._encode, self._decode, self._losses, self._believed = passes

    @property
    def hidden(self) -> int:
        """Size of a hidden state."""
        return self._pass.embedding.shape[1]

    def next_losses(self, tokens: Tensor) -> Tensor:
        """Loss of each next token of contexts `[rows, n]` -> `[rows, n - 1]`."""
        n = tokens.shape[1]
        causal = torch.ones(n, n, dtype=torch.bool, device=self.device).tril()
        places = torch.arange(n, device=self.device).expand(len(tokens), -1)
        with self._precision():
            hidden, _ = self._encode(tokens, places, _bias(causal.unsqueeze(0)))
            following = torch.cat((tokens[:, 1:], tokens[:, :1]), 1)  # the last one is not counted
            losses: Tensor = self._losses(hidden, following)[0]
        return losses[:, :-1]

    def encode(self, batch: Batch) -> tuple[Tensor, Any]:
        """Hidden states of the contexts, and what canvases see of them."""
        with self._precision():
            hidden, kept = self._encode(batch.tokens, batch.places, batch.context_bias)
        return hidden, kept

    def decode(self, batch: Batch, cells: Tensor, soft: Tensor, kept: Any) -> Tensor:
        """Hidden states of the canvases."""
        with self._precision():
            hidden: Tensor = self._decode(cells, soft, batch.cell_places, batch.cell_bias, kept)
        return hidden

    def losses(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Cross entropy at each position, and whether the best token is the target."""
        with self._precision():
            losses, right = self._losses(hidden, targets)
        return losses, right

    def believed(self, hidden: Tensor, banned: Tensor, temperature: float) -> Tensor:
        """Expected embeddings under what the model predicts."""
        with self._precision():
            soft: Tensor = self._believed(hidden, banned, torch.tensor(temperature, device=self.device))
        return soft

    def logits(self, hidden: Tensor) -> Tensor:
        """In float32."""
        with self._precision():
            return self._pass.logits(hidden)

    def soft(self, probabilities: Tensor) -> Tensor:
        """Expected embeddings under `[..., vocabulary]`."""
        with self._precision():
            return self._pass.soft(probabilities)

    def embed(self, tokens: Tensor) -> Tensor:
        """Embeddings."""
        return self._pass.embed(tokens)

    def _cell_losses(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        logits = self._pass.logits(hidden)
        losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        return losses.view(targets.shape), logits.detach().argmax(-1) == targets

    def _beliefs(self, hidden: Tensor, banned: Tensor, temperature: Tensor) -> Tensor:
        logits = self._pass.logits(hidden).index_fill(-1, banned, -torch.inf)
        return self._pass.soft(torch.softmax(logits / temperature, -1))

    def _precision(self) -> torch.autocast:
        # uncached: a weight that was first cast without gradients would be kept, and get none later
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self._half, cache_enabled=False)


def _bias(seen: Tensor) -> Tensor:
    return torch.where(seen, 0.0, _NO).unsqueeze(1)
