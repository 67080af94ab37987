"""The absorbing family: a causal model and an adapter that denoises a canvas of masked cells behind an exact prefix.

Owns: the rows of one fill and their passes. Must not know: sockets, the scheduler.
Every pass has two kinds of cells. Checked cells run through the base weights, causally: the tokens that are accepted or
guessed; their keys and values are exact, and their logits say what the base would write. Canvas cells run through the
adapter and see each other: the pending token once more, the region, the first tokens of the suffix. So one pass checks
the last draft and makes the next one. Two policies: `verified` accepts what the base's own greedy text agrees with
(the text is that of the causal family, in fewer passes); `free` accepts what the canvas is sure of.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import attrs
import torch
from attrs import frozen
from torch import Tensor

from engine.denoisers.adapter import Adapter
from engine.denoisers.canvas import MASK, Canvas
from engine.denoisers.causal import CausalDenoiser, CausalDenoising
from engine.denoisers.memory import Rows
from engine.denoisers.prompt import Prompt, with_plain_lines
from engine.protocol import Fill, Model, Span


class Policy(enum.StrEnum):
    """What becomes of a drafted canvas."""

    VERIFIED = "verified"
    """The longest part that the base's causal pass agrees with is accepted: equal to greedy decoding."""
    FREE = "free"
    """What the canvas is sure of is accepted, in any order."""


@frozen
class AbsorbingSettings:
    """How an adapter is run; `denoiser` in its folder's midfill.json."""

    base: str
    """Name of the base model in the catalog, or its folder."""
    fill: str
    """Token behind a text's end."""
    region: int = 16
    """Cells of a canvas."""
    near_suffix: int = 8
    """Suffix tokens clamped behind them."""
    threshold: float = 0.9
    """Probability from which `free` accepts a cell."""


class AbsorbingDenoiser(CausalDenoiser):
    """A causal model with an adapter on it."""

    def __init__(
        self, base: CausalDenoiser, model: Model, adapter: Adapter, settings: AbsorbingSettings, policy: Policy
    ) -> None:
        """`base`: as loaded, for its network and cache. `model`: what clients are told."""
        super().__init__(base.network, base.vocabulary, base.builder, base.cache, base.shapes, model, base.limits)
        self.adapter, self.settings, self.policy = adapter, settings, policy
        self.fill_token = self.vocabulary.id(settings.fill)

    def open(self, fill: Fill) -> AbsorbingDenoising:
        """Begin a fill."""
        fill = with_plain_lines(fill)
        return AbsorbingDenoising(self, fill, self.builder.build(fill), self.policy)

    def open_revision(self, fill: Fill, old: str, doubt: float) -> AbsorbingDenoising:
        """Begin a fill whose canvas shows `old`; tokens below `doubt` times the best one's probability are remade."""
        fill = with_plain_lines(attrs.evolve(fill, guesses=(old,)))
        revision = AbsorbingDenoising(self, fill, self.builder.build(fill), Policy.FREE)
        revision.start_from(fill.guesses[0], doubt)
        return revision

    def run(self, ids: Tensor, n_canvas: int, positions: Tensor, memory: Rows, mask: Tensor) -> Tensor:
        """Hidden states `[rows, n, hidden]`; the last `n_canvas` cells are the canvas, `MASK` is a masked one."""
        embedded: Tensor = self.network.get_input_embeddings()(ids.clamp_min(0))
        embedded = torch.where((ids == MASK).unsqueeze(-1), self.adapter.mask, embedded)
        self.adapter.n_canvas = n_canvas
        try:
            hidden: Tensor = self.network.base_model(
                inputs_embeds=embedded, position_ids=positions, attention_mask=mask, cache=memory, use_cache=True
            ).last_hidden_state
        finally:
            self.adapter.n_canvas = 0
        return hidden


class AbsorbingDenoising(CausalDenoising):
    """One fill: rows as in the causal family, each with a canvas behind it."""

    def __init__(self, denoiser: AbsorbingDenoiser, fill: Fill, prompt: Prompt, policy: Policy) -> None:
        super().__init__(denoiser, fill, prompt)
        self._a, self.policy = denoiser, policy
        self._canvases = [Canvas(denoiser.settings.region) for _ in self._rows]
        self._near = list(prompt.suffix[: denoiser.settings.near_suffix])
        self._doubt = 0.0
        self._fresh: list[list[int]] = [[] for _ in self._rows]
        """Accepted by `free` in the last pass: their exact keys, and what the base says of them, come with the next."""
        self._before = [self._last] * len(self._rows)
        """The first token that a row checks next."""

    def start_from(self, old: str, doubt: float) -> None:
        """The canvas shows `old` at first."""
        vocabulary, region = self._d.vocabulary, self._a.settings.region
        try:
            tokens = vocabulary.encode(self.prompt.heal.decode() + old)
        except UnicodeDecodeError:  # half a character: no text can be joined to it
            return
        end = [] if self._a.fill_token is None else [self._a.fill_token] * region
        self._canvases = [Canvas(region, [*tokens, *end]) for _ in self._rows]
        self._doubt = doubt

    # One step

    def _denoise(self) -> None:
        rows, free = self._rows, self.policy is Policy.FREE
        memory = self._memory = self._memory or self._new_memory(1 + 2 * self._a.settings.region + len(self._near))
        together = not self._branched
        checked: list[list[int]] = []
        for i, row in enumerate(rows):
            if row.done:
                checked.append([self._before[i]])
            elif free:
                checked.append([self._before[i], *self._fresh[i]])
            else:
                checked.append([self._before[i], *([] if together else row.canvas(self._guesses(row)))])
        is_end = [row.done or self._is_end(row.accepted) for row in rows]
        with_canvas = not together and not all(is_end)
        logits, drafted = self._pass(memory, checked, with_canvas)
        if not free or together:
            self._heal(logits, [tokens[1:] for tokens in checked])
        best = logits.argmax(-1)
        if together:
            self._branch(logits, best)
        scores = logits.gather(-1, best.unsqueeze(-1)).squeeze(-1) - logits.logsumexp(-1)
        for i, row in enumerate(rows):
            if row.done:
                continue
            self._steps[i] += 1
            if free and not together:
                self._score(i, logits)
                memory.starts[i] += len(self._fresh[i])
                self._before[i] = checked[i][-1]
                self._fresh[i] = []
                if is_end[i]:
                    row.done = True
                else:
                    assert drafted is not None
                    self._accept(i, drafted[i], logits[i, len(checked[i]) - 1])
            else:
                guesses = checked[i][1:]
                draft = self._draft(i, drafted[i]) if drafted is not None else []
                n = row.take(guesses, best[i, : 1 + len(guesses)].tolist(), scores[i].tolist())
                memory.starts[i] += n
                self._before[i] = row.accepted[-1]
                self._canvases[i].agree(row.accepted[-n:])
                if draft and not row.done:
                    row.draft(draft[n:])

    def _pass(self, memory: Rows, checked: Sequence[Sequence[int]], with_canvas: bool) -> tuple[Tensor, Tensor | None]:
        """Logits of the checked cells `[rows, n, vocabulary]`, and of the region `[rows, region, vocabulary]`."""
        d, region, near = self._a, self._a.settings.region, self._near
        n_rows, width = len(checked), max(map(len, checked))
        n_canvas = 1 + region + len(near) if with_canvas else 0
        ids = torch.zeros(n_rows, width + n_canvas, dtype=torch.long)
        pending = torch.tensor([len(tokens) - 1 if self.policy is Policy.FREE else 0 for tokens in checked]).unsqueeze(
            1
        )
        for i, tokens in enumerate(checked):
            ids[i, : len(tokens)] = torch.tensor(tokens)
            if with_canvas:
                ids[i, width:] = torch.tensor([tokens[int(pending[i])], *self._canvases[i].shown, *near])
        memory.expect(width + n_canvas)
        starts = torch.tensor(memory.starts).unsqueeze(1)
        cells = starts + torch.arange(width)  # [rows, width]
        keys = torch.arange(max(memory.starts) + width + n_canvas)
        mask = keys <= cells.unsqueeze(-1)
        positions = memory.n_prompt + cells
        if with_canvas:
            first = starts + width  # the canvas' keys lie behind the checked cells'
            seen = (keys < starts + pending) | ((keys >= first) & (keys < first + n_canvas))
            mask = torch.cat((mask, seen.unsqueeze(1).expand(-1, n_canvas, -1)), dim=1)
            behind = memory.n_prompt + starts + pending + torch.arange(n_canvas)
            positions = torch.cat((positions, behind), dim=1)
        prompt = torch.ones(n_rows, width + n_canvas, memory.n_prompt, dtype=torch.bool)
        mask = torch.cat((prompt, mask), dim=-1).unsqueeze(1)
        device = d.device
        with self._watch("forward"):
            hidden = d.run(ids.to(device), n_canvas, positions.to(device), memory, mask.to(device))
            logits = d.logits(hidden[:, : width + (region if with_canvas else 0)])
        self._n_passes += 1
        return logits[:, :width], logits[:, width:] if with_canvas else None

    def _draft(self, i: int, logits: Tensor) -> list[int]:
        """The text that row `i`'s canvas would write, up to its first fill token."""
        self._look(i, logits)
        text = self._canvases[i].text
        return text[: self.reader.length(text)]

    def _accept(self, i: int, logits: Tensor, base: Tensor) -> None:
        """`free`: accept what row `i`'s canvas is sure of, one cell at least.

        `logits` `[region, vocabulary]` of the canvas; `base` `[vocabulary]`, what the base says of the first cell: an
        empty canvas knows no more than the base, so the first cell starts at its skill.
        """
        row, canvas = self._rows[i], self._canvases[i]
        if not self._look(i, logits) and MASK in canvas.shown:
            empty = all(token == MASK for token in canvas.shown)
            if rest := row.rest_of_heal(()):
                self._narrow(base, rest)
            canvas.settle_first(int(base.argmax()) if empty else canvas.drafts[canvas.shown.index(MASK)])
        for token in canvas.take_sure():
            row.accepted.append(token)
            self._fresh[i].append(token)
            if self._is_end(row.accepted):
                break

    def _look(self, i: int, logits: Tensor) -> int:
        """Bring row `i`'s canvas up to date with a pass over it; returns how many cells it is newly sure of."""
        canvas, row = self._canvases[i], self._rows[i]
        before: list[int] = []
        while len(before) < canvas.size and (rest := row.rest_of_heal(before)):
            cell = len(before)
            self._narrow(logits[cell], rest)
            before.append(canvas.shown[cell] if canvas.shown[cell] != MASK else int(logits[cell].argmax()))
        probabilities = logits.softmax(-1)
        top, best = probabilities.max(-1)
        shown = torch.tensor(canvas.shown, device=logits.device).clamp_min(0)
        own = probabilities.gather(-1, shown.unsqueeze(-1)).squeeze(-1)
        tokens, chances = best.tolist(), top.tolist()
        canvas.judge(tokens, chances, own.tolist(), self._doubt)
        return canvas.show(tokens, chances, self._a.settings.threshold)

    def _score(self, i: int, logits: Tensor) -> None:
        """Count what the base says of the tokens that `free` accepted last.

        Small bases hardly ever say an end: it counts only where it is the whole text.
        """
        row, before = self._rows[i], list(self._checked(i))
        for cell, token in enumerate(self._fresh[i]):
            if token not in self._d.vocabulary.silent or not row.n_scored:
                if rest := row.heal_behind(before):
                    self._narrow(logits[i, cell], rest)
                row.score(float(logits[i, cell, token] - logits[i, cell].logsumexp(-1)))
            before.append(token)

    def _checked(self, i: int) -> Sequence[int]:
        accepted = self._rows[i].accepted
        return accepted[: len(accepted) - len(self._fresh[i])]

    def _frame(self) -> tuple[Span, ...]:
        row = self._rows[0]
        if self.policy is not Policy.FREE:
            return super()._frame()
        tokens = [*row.accepted, *([] if row.done or self._is_end(row.accepted) else self._canvases[0].text)]
        return self.reader.spans(tokens, [i < len(row.accepted) for i in range(len(tokens))])
