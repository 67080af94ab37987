"""The uniform family: a canvas of random tokens, clamped at its ends, denoised by DiffusionGemma.

Owns: the rows of one fill and what a step does to them. Must not know: sockets, the scheduler.
Reference: `generation_diffusion_gemma.py` of transformers 5.24 (see docs/architecture.md for where we differ, and
tests/denoisers/test_uniform_parity.py for the proof that a step is the same).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import attrs
import torch
from attrs import define
from torch import Tensor

from engine.denoisers.boundary import Boundary
from engine.denoisers.denoiser import Counts, Progress
from engine.denoisers.gemma import GemmaForward
from engine.denoisers.memory import PromptWriter, Rows
from engine.denoisers.noise import Noise
from engine.denoisers.prefill import Prefill
from engine.denoisers.prefix_cache import PrefixCache
from engine.denoisers.prompt import Prompt, PromptBuilder, with_plain_lines
from engine.denoisers.region import RegionReader
from engine.denoisers.sampler import Decision, SamplerSettings, decide
from engine.denoisers.scoring import score_rows
from engine.denoisers.seeds import seeds
from engine.denoisers.stopwatch import Stopwatch
from engine.denoisers.vocabulary import Vocabulary
from engine.protocol import Candidate, Fill, Limits, Model, Reason, Span

_SETTLED_ENTROPY: Final = 0.3
"""A cell whose argmax has stopped changing counts as settled below this entropy, in nats."""
_BELIEFS: Final = 256
"""Tokens per cell that carry self-conditioning when the vocabulary is large. A bottleneck of a few hundred costs no
quality (arXiv 2606.20560), and the full product would be canvas x 262144."""
_LARGE_VOCABULARY: Final = 32_768
_N = TypeVar("_N", int, float)


@define(eq=False)
class RowPlan:
    """A candidate before it starts."""

    n_cells: int
    seed: int
    start: Sequence[int] = ()
    """Tokens that its region starts from, in place of noise."""


class UniformDenoiser:
    """A loaded DiffusionGemma."""

    def __init__(
        self,
        forward: GemmaForward,
        vocabulary: Vocabulary,
        builder: PromptBuilder,
        settings: SamplerSettings,
        cache: PrefixCache,
        model: Model,
        limits: Limits,
    ) -> None:
        self.forward, self.vocabulary, self.builder = forward, vocabulary, builder
        self.settings, self.cache = settings, cache
        self.model, self.limits = model, limits
        self.end = vocabulary.id(builder.fim.end) if builder.fim.end else None
        """Token that fills up a region; None: the model has none."""
        banned = vocabulary.banned
        self.banned = banned[banned != (-1 if self.end is None else self.end)].to(forward.device)
        self.copies = True
        """Texts that are there already compete with what the rows make (see `seeds`)."""
        text = torch.ones(vocabulary.size, dtype=torch.bool)
        text[vocabulary.banned] = False
        self.noise_tokens = text.nonzero().squeeze(1)
        """Tokens that a canvas starts from and is renoised with, `[n]`."""

    def open(self, fill: Fill) -> UniformDenoising:
        """Begin a fill."""
        fill = with_plain_lines(fill)
        return UniformDenoising(self, fill, self.builder.build(fill), self.plan(fill))

    def plan(self, fill: Fill) -> list[RowPlan]:
        """Candidates by region size and seed: the size that was asked for, then the other sizes, then other seeds."""
        sizes = sorted(self.builder.fim.regions)
        fitting = [size for size in sizes if size <= self.limits.region_tokens] or sizes[:1]
        asked = min(fill.max_tokens, 32) if fill.max_lines == 1 else fill.max_tokens
        first = next((size for size in fitting if size >= asked), fitting[-1])
        others = sorted((size for size in fitting if size != first), key=lambda size: abs(size - first))
        order = [first, *others]
        least = 1 if self.end is not None else len(order)  # without a fill token only another size is another length
        n_rows = max(least, fill.n_alternatives)
        return [RowPlan(order[i % len(order)], fill.seed + i // len(order)) for i in range(n_rows)]

    def started(self, region: Sequence[int], seed: int, room: int) -> RowPlan:
        """A row that starts from a region: of `room` cells, or of the region's own size without a fill token."""
        end = [] if self.end is None else [self.end] * (room - len(region))
        return RowPlan(len(region) + len(end), seed, (*region, *end))


class UniformDenoising:
    """One fill: rows of canvases over one shared prompt."""

    def __init__(self, denoiser: UniformDenoiser, fill: Fill, prompt: Prompt, plan: Sequence[RowPlan]) -> None:
        self._d, self.prompt = denoiser, prompt
        boundary = Boundary(fill.prefix, fill.suffix, fill.max_lines)
        end = frozenset(() if denoiser.end is None else (denoiser.end,))
        self.reader = RegionReader(denoiser.vocabulary, prompt.heal, end, boundary)
        room = plan[0].n_cells
        copies = denoiser.copies and denoiser.model.scores
        self.seeds = seeds(fill, prompt, denoiser.vocabulary, self.reader, room) if copies else []
        """Regions that compete as they are."""
        if self.seeds and len(plan) > 1:
            plan = [*plan[:-1], denoiser.started(self.seeds[0], plan[-1].seed, room)]
        self.n_cells = [row.n_cells for row in plan]
        self.noise = [Noise(row.seed, row.n_cells) for row in plan]
        self._starts = [row.start for row in plan]
        self._first_allowed: Tensor | None = None
        if prompt.heal:
            allowed = denoiser.vocabulary.starting_with(prompt.heal)
            self._first_allowed = torch.tensor(allowed, device=denoiser.forward.device)
        self._watch = Stopwatch(denoiser.forward.device)
        self._step = 0
        self._ranked: list[int] | None = None
        """Rows, and behind them seeds, best first."""
        self._scores = [0.0] * (len(plan) + len(self.seeds))
        self._steps = [0] * len(plan)
        self._converged = [False] * len(plan)
        self.canvas = self._first_canvas()
        """`[rows, cells]`: region, near suffix, padding."""
        self.argmax = torch.full((len(plan), self._width), -1)
        """The region as the model sees it, `[rows, region cells]`; on the host."""
        self.decision: Decision | None = None
        """The last step's, for tests and traces."""
        self._settled = torch.zeros_like(self.argmax, dtype=torch.bool)
        self._soft: Tensor | None = None
        self._base = torch.empty(0)
        """What clamped cells are conditioned on: the embeddings of the known tokens, `[rows, cells, hidden]`."""
        self._masks: dict[int, Tensor | None] = {}
        self._rows: Rows | None = None
        self._prefill = Prefill(denoiser.cache, prompt.tokens, self._encode)  # last: it holds a store until `close`

    # Denoising

    def advance(self) -> Progress:
        """One forward pass."""
        with torch.inference_mode():
            if not self._prefill.done:
                with self._watch("prefill"):
                    self._prefill.advance()
                return Progress()
            if not self._over():
                with self._watch("denoise"):
                    self._denoise()
                last = self._over() and not self._d.model.scores
                return Progress(frame=self._frame(), reason=self._reason if last else None)
            with self._watch("rank"):
                self._rank()
            return Progress(reason=self._reason)

    def candidates(self) -> tuple[Candidate, ...]:
        """Texts of the rows, best first; texts that were not whole, or are there already, are left out.

        Of rows that are still at work, the whole lines that have settled: the rest is noise.
        """
        order = list(range(len(self.n_cells))) if self._ranked is None else self._ranked
        found: dict[str, Candidate] = {}
        n_rows = len(self.n_cells)
        for row in order:
            done = row >= n_rows or self._converged[row] or self._over()
            read = self.reader.text(self._region(row)) if done else self.reader.unfinished(self._settled_region(row))
            if read.whole and (read.text or done) and read.text not in found:
                steps, converged = (self._steps[row], self._converged[row]) if row < n_rows else (0, True)
                found[read.text] = Candidate(read.text, self._scores[row], read.n_tokens, steps, converged)
        return tuple(found.values())

    @property
    def counts(self) -> Counts:
        """Figures so far."""
        return self._watch.counts(self._step, len(self.prompt.tokens), self._prefill.n_reused)

    def close(self) -> None:
        """Let go of all memory but the argmax canvas."""
        self._prefill.close()
        self._rows = self._soft = self.decision = None
        self._base = torch.empty(0)
        self._masks = {}

    # One step: what changes between `advance` calls

    @property
    def _width(self) -> int:
        return max(self.n_cells)

    def _over(self) -> bool:
        return all(self._converged) or self._step >= self._d.settings.max_steps

    @property
    def _reason(self) -> Reason:
        return Reason.CONVERGED if all(self._converged) else Reason.LIMIT

    def _first_canvas(self) -> Tensor:
        d, near = self._d, torch.tensor(self.prompt.near, dtype=torch.long)
        canvas = torch.zeros(len(self.n_cells), self._width + len(near), dtype=torch.long)
        self._free = torch.zeros(len(self.n_cells), self._width, dtype=torch.bool)
        self._clamped = torch.zeros(canvas.shape, dtype=torch.bool)
        for row, n in enumerate(self.n_cells):
            start = torch.tensor(self._starts[row], dtype=torch.long)
            canvas[row, :n] = self.noise[row].canvas(n, d.noise_tokens) if not len(start) else start
            canvas[row, n : n + len(near)] = near
            self._free[row, :n] = True
            self._clamped[row, n : n + len(near)] = True
        self._seen = self._clamped.clone()
        self._seen[:, : self._width] |= self._free
        device = d.forward.device
        self._free = self._free.to(device)
        return canvas.to(device)

    def _encode(self, tokens: Sequence[int], writer: PromptWriter) -> None:
        forward = self._d.forward
        ids = torch.tensor([tokens], device=forward.device)
        start = writer.get_seq_length()
        positions = torch.arange(start, start + len(tokens), device=forward.device).unsqueeze(0)
        masks = {w: _to(writer.mask(w), forward.device) for w in {shape.window for shape in forward.shapes}}
        with self._watch("forward"):
            forward.encode(ids, positions, writer, masks)

    def _start_rows(self) -> Rows:
        forward, store = self._d.forward, self._prefill.store
        n, width = self.canvas.shape
        rows = Rows(store, n, width)
        rows.expect(width)
        start = len(store)
        self._positions = torch.arange(start, start + width, device=forward.device).unsqueeze(0).expand(n, -1)
        padded = not bool(self._seen.all())
        for layer, shape in enumerate(forward.shapes):
            if padded and shape.window not in self._masks:
                prompt = torch.ones(n, rows.visible(layer), dtype=torch.bool)
                mask = torch.cat((prompt, self._seen), dim=1)[:, None, None, :]
                self._masks[shape.window] = mask.expand(-1, -1, width, -1).to(forward.device)
            elif not padded:
                self._masks[shape.window] = None
        self._base = forward.embedding(self.canvas)
        return rows

    def _denoise(self) -> None:
        d = self._d
        if self._rows is None:
            self._rows = self._start_rows()
        self._step += 1
        with self._watch("forward"):
            hidden = d.forward.decode(self.canvas, self._soft, self._positions, self._rows, self._masks)
            logits = d.forward.logits(hidden[:, : self._width])
        self.allow(logits)
        uniform = torch.zeros(self._free.shape, dtype=torch.float64)
        renoise = torch.zeros(self._free.shape, dtype=torch.long)
        for row, n in enumerate(self.n_cells):  # as many numbers as the row has cells, whoever is beside it
            uniform[row, :n], renoise[row, :n] = self.noise[row].step(self._step, n, d.noise_tokens)
        uniform, renoise = uniform.to(logits.device), renoise.to(logits.device)
        decision = decide(
            logits, d.settings.temperature(self._step), d.settings.entropy_bound, uniform, renoise, self._free
        )
        self.decision = decision
        self.canvas[:, : self._width] = torch.where(self._free, decision.canvas, self.canvas[:, : self._width])
        with self._watch("forward"):  # the library, too, does this inside its forward pass
            self._condition(decision.probabilities)
        self._judge(decision)

    def allow(self, logits: Tensor) -> None:
        """Forbid control tokens everywhere, and in the first cell whatever does not continue the withdrawn text."""
        d = self._d
        logits[..., d.banned] = -torch.inf
        if self._first_allowed is not None:
            first = torch.full_like(logits[:, 0], -torch.inf)
            first[:, self._first_allowed] = logits[:, 0, self._first_allowed]
            logits[:, 0] = first

    def _condition(self, probabilities: Tensor) -> None:
        forward = self._d.forward
        soft = self._base.clone()
        if probabilities.shape[-1] > _LARGE_VOCABULARY:
            top, ids = probabilities.topk(_BELIEFS, dim=-1)
            weights = (top / top.sum(-1, keepdim=True)).to(forward.dtype).unsqueeze(-2)
            region = (weights @ forward.embedding(ids)).squeeze(-2)
        else:
            region = forward.soft_embeddings(probabilities)
        width = self._width
        soft[:, :width] = torch.where(self._free.unsqueeze(-1), region, soft[:, :width])
        self._soft = soft

    def _judge(self, decision: Decision) -> None:
        """Per row: has it converged? Converged rows keep what they have."""
        argmax, entropy = decision.argmax.cpu(), decision.entropy.cpu()
        free = self._free.cpu()
        same = (argmax == self.argmax) | ~free
        mean = (entropy * free).sum(-1) / free.sum(-1)
        for row in range(len(self.n_cells)):
            if self._converged[row]:
                continue
            self._steps[row] = self._step
            self._settled[row] = same[row] & (entropy[row] < _SETTLED_ENTROPY)
            self.argmax[row] = argmax[row]
            self._converged[row] = bool(same[row].all()) and float(mean[row]) < self._d.settings.confidence

    # Reading

    def _region(self, row: int) -> list[int]:
        n_rows = len(self.n_cells)
        if row >= n_rows:
            return self.seeds[row - n_rows]
        tokens: list[int] = self.argmax[row, : self.n_cells[row]].tolist()
        return tokens

    def _settled_region(self, row: int) -> list[int]:
        """Tokens before the first cell that has not settled."""
        settled: list[bool] = self._settled[row, : self.n_cells[row]].tolist()
        return self._region(row)[: [*settled, False].index(False)]

    def _frame(self) -> tuple[Span, ...]:
        row = 0  # the size that was asked for; the others stay in the back until they are ranked
        settled: list[bool] = self._settled[row, : self.n_cells[row]].tolist()
        return self.reader.spans(self._region(row), settled)

    def _rank(self) -> None:
        d, near = self._d, list(self.prompt.near[:8])
        regions = [self._region(row) for row in range(len(self._scores))]
        texts = [region[: self.reader.length(region)] + near for region in regions]
        with self._watch("forward"):
            self._scores = score_rows(d.forward, self._prefill.store, self.prompt, texts)
        self._ranked = sorted(range(len(texts)), key=lambda row: -self._scores[row])


def _to(mask: Tensor | None, device: torch.device) -> Tensor | None:
    return None if mask is None else mask.to(device)


def settings_from(generation: dict[str, object], max_steps: int) -> SamplerSettings:
    """Sampler settings of a `generation_config.json`; `max_steps` above 0 overrides its own."""
    default = SamplerSettings()
    sampler = generation.get("sampler_config")
    bound = sampler.get("entropy_bound") if isinstance(sampler, dict) else None
    settings = SamplerSettings(
        max_steps=_number(generation.get("max_denoising_steps"), default.max_steps),
        entropy_bound=_number(bound, default.entropy_bound),
        t_min=_number(generation.get("t_min"), default.t_min),
        t_max=_number(generation.get("t_max"), default.t_max),
        confidence=_number(generation.get("confidence_threshold"), default.confidence),
    )
    return attrs.evolve(settings, max_steps=max_steps) if max_steps else settings


def _number(value: object, default: _N) -> _N:
    return type(default)(value) if isinstance(value, int | float) else default
