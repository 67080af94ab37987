"""The causal family: any fill-in-the-middle model of `transformers`, decoded as a canvas of Jacobi guesses.

Owns: the rows of one fill and their forward passes. Must not know: sockets, the scheduler.
The model's own forward is used as it is, with our stores in place of its cache. What converges is exactly what greedy
`generate()` gives (tests/denoisers/test_causal_parity.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from engine.denoisers.boundary import Boundary
from engine.denoisers.denoiser import Counts, Progress
from engine.denoisers.guess import Lookup, copied_text
from engine.denoisers.jacobi import JacobiRow
from engine.denoisers.kv_store import LayerShape
from engine.denoisers.memory import PromptWriter, Rows
from engine.denoisers.prefill import Prefill
from engine.denoisers.prefix_cache import PrefixCache
from engine.denoisers.prompt import Prompt, PromptBuilder, with_plain_lines
from engine.denoisers.region import RegionReader
from engine.denoisers.stopwatch import Stopwatch
from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Candidate, Fill, Limits, Model, Reason, Span

_WIDTH: Final = 8
"""Cells per pass while guesses are unproven. On a CPU a pass is bound by reading weights up to about this many."""
_WIDE: Final = 16
"""Cells per pass after a whole canvas of guesses was right."""
_CHARACTERS_PER_TOKEN: Final = 4
_LOOKUP_CHARACTERS: Final = 20_000
"""Text on either side that is searched for a guess."""


class CausalDenoiser:
    """A loaded causal model."""

    def __init__(
        self,
        network: Any,
        vocabulary: Vocabulary,
        builder: PromptBuilder,
        cache: PrefixCache,
        shapes: Sequence[LayerShape],
        model: Model,
        limits: Limits,
    ) -> None:
        self.network, self.vocabulary, self.builder, self.cache = network, vocabulary, builder, cache
        self.shapes = tuple(shapes)
        self.model, self.limits = model, limits
        self.device: torch.device = network.device
        self.windows = {shape.window for shape in self.shapes}
        self.copies = True
        """Rows guess by copying. They come to the same text without it, in more passes."""

    def open(self, fill: Fill) -> CausalDenoising:
        """Begin a fill."""
        fill = with_plain_lines(fill)
        return CausalDenoising(self, fill, self.builder.build(fill))

    def forward(self, ids: Tensor, positions: Tensor, memory: PromptWriter | Rows, mask: Tensor) -> Tensor:
        """Hidden states `[rows, n, hidden]` of `ids` `[rows, n]`; `mask` `[rows, 1, n, n_keys]`, True to attend."""
        hidden: Tensor = self.network.base_model(
            input_ids=ids, position_ids=positions, attention_mask=mask, cache=memory, use_cache=True
        ).last_hidden_state
        return hidden

    def logits(self, hidden: Tensor) -> Tensor:
        """`[..., hidden]` -> `[..., vocabulary]` float32."""
        logits: Tensor = self.network.get_output_embeddings()(hidden).float()
        return logits


class CausalDenoising:
    """One fill: rows of guesses over one shared prompt, told apart by their first token."""

    def __init__(self, denoiser: CausalDenoiser, fill: Fill, prompt: Prompt) -> None:
        self._d, self._fill, self.prompt = denoiser, fill, prompt
        self.vocabulary = denoiser.vocabulary
        self._max_tokens = max(1, min(fill.max_tokens, denoiser.limits.region_tokens))
        boundary = Boundary(fill.prefix, fill.suffix, fill.max_lines)
        end = denoiser.vocabulary.silent
        self.reader = RegionReader(denoiser.vocabulary, prompt.heal, end, boundary)
        self._watch = Stopwatch(denoiser.device)
        *head, self._last = prompt.tokens
        self._rows = [self.new_row(), *(self.new_row(guesses=False) for _ in range(fill.n_alternatives - 1))]
        self._steps = [0] * len(self._rows)
        self._memory: Rows | None = None
        self._n_passes = 0
        self._branched = len(self._rows) == 1
        """The rows have been told apart. Before that they are all the same."""
        self._prefill = Prefill(denoiser.cache, head, self._encode)  # last: it holds a store until `close`

    def advance(self) -> Progress:
        """One forward pass."""
        with torch.inference_mode():
            if not self._prefill.done:
                with self._watch("prefill"):
                    self._prefill.advance()
                return Progress()
            with self._watch("denoise"):
                self._denoise()
        over = all(row.done for row in self._rows)
        reason = Reason.LIMIT if self._is_cut(self._rows[0]) else Reason.CONVERGED
        return Progress(frame=self._frame(), reason=reason if over else None)

    def candidates(self) -> tuple[Candidate, ...]:
        """Texts of the rows by mean log-probability; of unfinished rows, the whole lines that there are."""
        found: dict[str, Candidate] = {}
        for i, (row, steps) in enumerate(zip(self._rows, self._steps, strict=True)):
            read = self.reader.text(row.accepted) if row.done else self.reader.unfinished(self._checked(i))
            if read.whole and row.n_scored and (read.text or row.done) and read.text not in found:
                score = row.log_probability / row.n_scored
                found[read.text] = Candidate(read.text, score, read.n_tokens, steps, row.done and not self._is_cut(row))
        return tuple(sorted(found.values(), key=lambda candidate: -candidate.score))

    @property
    def counts(self) -> Counts:
        """Figures so far."""
        return self._watch.counts(self._n_passes, len(self.prompt.tokens), self._prefill.n_reused)

    def close(self) -> None:
        """Let go of the store and the rows."""
        self._prefill.close()
        self._memory = None

    # One step

    def new_row(self, guesses: bool = True) -> JacobiRow:
        """A row at its start, with a guess from the text around it."""
        vocabulary, prompt, fill = self._d.vocabulary, self.prompt, self._fill
        copied = ""
        if guesses and self._d.copies:
            prefix, suffix = fill.prefix[-_LOOKUP_CHARACTERS:], fill.suffix[:_LOOKUP_CHARACTERS]
            n = _CHARACTERS_PER_TOKEN * self._max_tokens
            copied = fill.guesses[0][:n] if fill.guesses else copied_text(prefix, suffix, n)
        heal = prompt.heal.decode("utf-8", "ignore")
        return JacobiRow(
            lookup=Lookup([*prompt.suffix, *prompt.prefix]) if self._d.copies else None,
            context=list(prompt.prefix[-8:]),
            heal=prompt.heal,
            piece=lambda token: vocabulary.decode((token,)),
            is_end=self._is_end,
            guess=vocabulary.encode(heal + copied) if copied else [],
        )

    def _checked(self, i: int) -> Sequence[int]:
        """The accepted tokens of row `i` that have a log-probability."""
        return self._rows[i].accepted

    def _is_end(self, accepted: Sequence[int]) -> bool:
        return self.reader.is_whole(accepted) or len(accepted) >= self._max_tokens

    def _is_cut(self, row: JacobiRow) -> bool:
        """The row has used up its tokens before its text was whole."""
        return len(row.accepted) >= self._max_tokens and not self.reader.is_whole(row.accepted)

    def _encode(self, tokens: Sequence[int], writer: PromptWriter) -> None:
        device = self._d.device
        start = writer.get_seq_length()
        positions = torch.arange(start, start + len(tokens), device=device).unsqueeze(0)
        mask = writer.mask(0)
        if mask is None:  # always said: without one, the library would ask our store for more than it is
            mask = torch.ones(1, start + 1, dtype=torch.bool)
        with self._watch("forward"):
            ids = torch.tensor([tokens], device=device)
            self._d.forward(ids, positions, writer, mask[None, None].to(device))

    def _denoise(self) -> None:
        rows = self._rows
        memory = self._memory = self._memory or self._new_memory()
        together = not self._branched
        canvases = [[] if together or row.done else row.canvas(self._guesses(row)) for row in rows]
        width = 1 + max(len(canvas) for canvas in canvases)
        inputs = torch.zeros(len(rows), width, dtype=torch.long)
        for i, (row, canvas) in enumerate(zip(rows, canvases, strict=True)):
            pending = row.accepted[-1] if row.accepted else self._last
            inputs[i, : 1 + len(canvas)] = torch.tensor([pending, *canvas])
        memory.expect(width)
        starts = torch.tensor(memory.starts).unsqueeze(1)
        cells = starts + torch.arange(width).unsqueeze(0)  # [rows, width]
        keys = torch.arange(max(memory.starts) + width)
        mask = keys[None, None, :] <= cells[:, :, None]
        prompt = torch.ones(len(rows), width, memory.n_prompt, dtype=torch.bool)
        mask = torch.cat((prompt, mask), dim=-1).unsqueeze(1)
        device = self._d.device
        with self._watch("forward"):
            hidden = self._d.forward(inputs.to(device), (memory.n_prompt + cells).to(device), memory, mask.to(device))
            logits = self._d.logits(hidden)
        self._n_passes += 1
        self._heal(logits, canvases)
        best = logits.argmax(-1)
        if together:
            self._branch(logits, best)
        scores = (logits.gather(-1, best.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)).tolist()
        for i, (row, canvas) in enumerate(zip(rows, canvases, strict=True)):
            if not row.done:
                self._steps[i] += 1
                n = row.take(canvas, best[i, : 1 + len(canvas)].tolist(), scores[i])
                memory.starts[i] += n

    def _new_memory(self, spare: int = 0) -> Rows:
        """Room for the region, for one pass of guesses behind it, and for `spare` cells more."""
        return Rows(self._prefill.store, len(self._rows), self._max_tokens + _WIDE + 1 + spare)

    def _branch(self, logits: Tensor, best: Tensor) -> None:
        """Give every row a first token of its own, once the withdrawn text leaves enough to choose from.

        Until then all rows take the same token; most withdrawn texts allow for one or two only. Changes `best`.
        """
        if int(logits[0, 0].isfinite().sum()) >= len(self._rows):
            best[:, 0] = logits[0, 0].topk(len(self._rows)).indices
            self._branched = True

    def _guesses(self, row: JacobiRow) -> int:
        width = _WIDE if row.was_right else _WIDTH
        return min(width - 1, self._max_tokens - len(row.accepted) - 1)

    def _heal(self, logits: Tensor, canvases: Sequence[Sequence[int]]) -> None:
        """Forbid whatever disagrees with the withdrawn text, as far as it reaches into each row."""
        for i, (row, canvas) in enumerate(zip(self._rows, canvases, strict=True)):
            for cell in range(1 + len(canvas)):
                rest = row.rest_of_heal(canvas[:cell])
                if not rest or row.done:
                    break
                self._narrow(logits[i, cell], rest)

    def _narrow(self, logits: Tensor, rest: bytes) -> None:
        """Forbid every token that disagrees with `rest`; `logits` `[vocabulary]` is changed."""
        allowed = torch.tensor(self._d.vocabulary.continuing(rest), device=logits.device)
        kept = logits[allowed]
        logits.fill_(-torch.inf)
        logits[allowed] = kept

    def _frame(self) -> tuple[Span, ...]:
        row = self._rows[0]
        tokens = [*row.accepted, *row.guess[: _WIDE - 1]]
        settled = [i < len(row.accepted) for i in range(len(tokens))]
        return self.reader.spans(tokens, settled)
