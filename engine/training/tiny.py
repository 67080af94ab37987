"""The bundled model, trained from nothing. Owns: the objective: its stages, their losses, what is exported.

First the next token, from contexts alone: the cheapest way to learn a language (DiffusionGemma came from an
autoregressive model as well). Then block diffusion with uniform noise (Arriola et al., "Block Diffusion", arXiv
2503.09573; Sahoo et al., "The Diffusion Duality", arXiv 2506.10892) and self-conditioning (Chen et al., "Analog Bits",
arXiv 2208.04202): the true token at every cell of a noised canvas. Last a short stage on the model's own results: it
denoises some steps, and from where it was it learns in one step what it reached some steps later (Deschenaux and
Gulcehre, "Beyond Autoregression: self-distillation through time", arXiv 2410.21035). Its teacher is the present model,
not an average (Song and Dhariwal, "Improved techniques for training consistency models", arXiv 2310.14189): so there is
no more state than the loop keeps.
"""

from __future__ import annotations

import copy
import enum
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import torch
from attrs import field, frozen
from attrs.validators import ge, gt, in_, le
from torch import Tensor
from torch.optim import Optimizer
from transformers.utils import logging as hf_logging

from engine.denoisers.prompt import load_format
from engine.denoisers.uniform import settings_from
from engine.denoisers.vocabulary import Vocabulary
from engine.training.documents import Documents, HoleSet
from engine.training.objective import Figures, Piece
from engine.training.rollout import Grid, Rollout, State
from engine.training.run_folder import RunError
from engine.training.sheets import Format, Sheet, SheetMaker, SheetShape
from engine.training.tiny_batch import Batch, TinyNetwork
from engine.training.tiny_model import SIZES, build, matrices, n_weights
from engine.training.token_shard import TokenShard


class Stage(enum.StrEnum):
    """Part of a run."""

    NEXT = "next"
    CANVAS = "canvas"
    OWN = "own"


_SHARE: Any = [ge(0.0), le(1.0)]


@frozen
class TinySettings:
    """What a run is."""

    steps: int = field(default=10_000, validator=gt(0))
    """All steps; the stages are shares of them."""
    seed: int = 0
    size: str = field(default="bundled", validator=in_(SIZES))
    next_share: float = field(default=0.5, validator=_SHARE)
    """Share of the steps that train the next token alone."""
    own_share: float = field(default=0.08, validator=_SHARE)
    """Share of the steps, at the end, that train on own results."""
    shape: SheetShape = field(factory=SheetShape)
    pieces: int = field(default=1, validator=gt(0))
    """Sheets a step."""
    holes: float = field(default=0.5, validator=_SHARE)
    """Share of documents that are holes; the others are windows of the corpus."""
    conditioned: float = field(default=0.5, validator=_SHARE)
    """Share of sheets with self-conditioning."""
    next_weight: float = 0.3
    """Weight of the next token beside canvases: the causal pass ranks candidates."""
    truth: float = field(default=0.5, validator=_SHARE)
    """Share of the true token in the last stage's targets."""
    muon_lr: float = 0.02
    """For matrices of the layers (Jordan et al., "Muon", 2024)."""
    adam_lr: float = 2e-3
    """For the embedding and gains."""
    valid: int = 64
    """Holes of a validation."""

    def stage(self, step: int) -> Stage:
        """The stage of a step (the first is 0)."""
        if step >= self.steps - round(self.own_share * self.steps):
            return Stage.OWN
        return Stage.NEXT if step < round(self.next_share * self.steps) else Stage.CANVAS


class TinyTraining:
    """The objective."""

    def __init__(
        self,
        checkpoint: Path,
        tokens: TokenShard,
        holes: HoleSet,
        valid: HoleSet,
        settings: TinySettings,
        device: torch.device,
        *,
        half: bool = True,
        compiled: bool = False,
    ) -> None:
        """`checkpoint`: a folder with tokenizer, prompt format and sampler settings (the bundled model's).

        `half`: matrix products in bfloat16. `compiled`: with torch.compile.
        """
        self._s, self._checkpoint = settings, checkpoint
        self._documents = Documents(tokens, holes, settings.holes)
        self._valid = valid
        if len(tokens) < settings.shape.tokens or not len(holes):
            raise RunError(f"{len(tokens)} tokens and {len(holes)} examples are too few to train on")
        size = int(_read(checkpoint / "config.json")["text_config"]["vocab_size"])
        vocabulary = Vocabulary(checkpoint, size)
        self._form = _format(checkpoint, vocabulary)
        self._sampler = settings_from(_read(checkpoint / "generation_config.json"), 0)
        self._maker = SheetMaker(settings.shape, self._form)
        network = build(SIZES[settings.size], vocabulary, settings.seed).to(device)
        places = settings.shape.tokens + max(self._form.regions) + self._form.near
        self._net = TinyNetwork(network, places, device, half, compiled)
        banned = vocabulary.banned
        self._banned = banned[banned != self._form.fill].to(device)
        self._device = device

    # What the loop asks

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Objective`."""
        data = {
            "tokens": self._documents.tokens.fingerprint,
            "train": self._documents.holes.fingerprint,
            "valid": self._valid.fingerprint,
            "parameters": n_weights(self._net.weights),
        }
        return {"objective": "tiny", **data, **attrs.asdict(self._s)}

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The decoder's weights; the encoder shares them."""
        return self._net.weights

    def optimizers(self) -> list[Optimizer]:
        """Muon for the layers' matrices, AdamW for the rest."""
        inner, rest = matrices(self._net.weights)
        return [
            torch.optim.Muon(inner, lr=self._s.muon_lr, weight_decay=0.0),
            torch.optim.AdamW(rest, lr=self._s.adam_lr, betas=(0.9, 0.98), weight_decay=0.0),
        ]

    def pieces(self, step: int) -> Iterator[Piece]:
        """The sheets of a step."""
        s = self._s
        stage = s.stage(step)
        for number in range(s.pieces):
            rng = np.random.default_rng((s.seed, step, number))
            if stage is Stage.NEXT:
                loss, figures, n_tokens = self._next(rng)
            else:
                rows = [self._documents.row(s.shape.tokens, rng) for _ in range(s.shape.rows)]
                sheet = self._maker.make(rows, rng)
                loss, figures = self._canvas(sheet, rng) if stage is Stage.CANVAS else self._own(sheet, rng)
                n_tokens = sheet.tokens.size + sheet.cells.size
            yield Piece(loss / s.pieces, figures, n_tokens)

    @torch.no_grad()
    def validate(self) -> Figures:
        """Losses on noised canvases, and how the sampler does on holes: exact match in tokens, steps."""
        found: Figures = {}
        rows = self._s.shape.rows
        for first in range(0, min(self._s.valid, len(self._valid)), rows):
            rng = np.random.default_rng((1, first))
            holes = [self._valid[i] for i in range(first, min(first + rows, len(self._valid)))]
            sheet = self._maker.make([[hole] for hole in holes], rng)
            _, figures = self._canvas(sheet, rng)
            _add(found, figures)
            fresh = attrs.evolve(
                sheet, cells=np.where(sheet.free, rng.choice(self._form.noise, sheet.cells.shape), sheet.cells)
            )
            batch = Batch(fresh, self._device)
            grid = Grid.of(attrs.evolve(fresh, free=fresh.free & fresh.holes))
            if not len(grid.index):
                continue
            _, kept = self._net.encode(batch)
            regions, steps = self._rollout(grid, batch, kept, rng).finish(self._state(batch))
            truth = sheet.targets.reshape(-1)[grid.index]
            right = [
                _text(region, self._form.fill) == _text(true, self._form.fill)
                for region, true in zip(regions.tolist(), truth.tolist(), strict=True)
            ]
            _add(found, {"exact": (float(sum(right)), len(right)), "steps": (float(steps.sum()), len(right))})
        return found

    def export(self, folder: Path, told: Mapping[str, Any]) -> None:
        """A checkpoint in the library's format, with tokenizer, prompt format and sampler settings."""
        network = copy.deepcopy(self._net.network).to("cpu", torch.bfloat16)
        hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        network.save_pretrained(folder)
        for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
            if (self._checkpoint / name).exists():
                shutil.copyfile(self._checkpoint / name, folder / name)
        stated = _read(self._checkpoint / "midfill.json")
        record = {**stated, "name": "tiny", "training": {**told, "size": self._s.size}}
        (folder / "midfill.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")

    # Losses

    def _next(self, rng: np.random.Generator) -> tuple[Tensor, Figures, int]:
        s = self._s.shape
        n_rows = s.rows * (s.tokens + s.cells) // s.tokens  # as many tokens as with canvases
        windows = np.stack([self._documents.tokens.window(s.tokens, rng) for _ in range(n_rows)])
        losses = self._net.next_losses(torch.from_numpy(windows).to(self._device))
        loss = losses.mean()
        return loss, {"loss_next": (float(losses.detach().sum()), losses.numel())}, windows.size

    def _canvas(self, sheet: Sheet, rng: np.random.Generator) -> tuple[Tensor, Figures]:
        batch, net = Batch(sheet, self._device), self._net
        hidden, kept = net.encode(batch)
        state = self._state(batch)
        if rng.random() < self._s.conditioned:
            temperature = float(rng.uniform(self._sampler.t_min, self._sampler.t_max))
            with torch.no_grad():
                first = net.decode(batch, state.cells, state.soft, kept)
                believed = net.believed(first, self._banned, temperature)
                state.soft = torch.where(batch.free.unsqueeze(-1), believed, net.embed(batch.cells))
        decoded = net.decode(batch, state.cells, state.soft, kept)
        losses, right = net.losses(decoded, batch.targets)
        loss, figures = self._with_next(batch, hidden, losses)
        _add(figures, _by_level(sheet, losses.detach().cpu().numpy(), right.cpu().numpy()))
        return loss, figures

    def _own(self, sheet: Sheet, rng: np.random.Generator) -> tuple[Tensor, Figures]:
        batch, net = Batch(sheet, self._device), self._net
        hidden, kept = net.encode(batch)
        grid = Grid.of(sheet)
        rollout = self._rollout(grid, batch, kept, rng)
        here = self._state(batch)
        for _ in range(int(rng.integers(0, 7))):
            here, _ = rollout.step(here)
        later = here
        for _ in range(int(rng.integers(2, 5))):
            later, decision = rollout.step(later)
        decoded = net.decode(batch, here.cells, here.soft, kept)
        losses, right = net.losses(decoded, batch.targets)
        reached = torch.zeros_like(losses)
        logits = net.logits(decoded.flatten(0, 1)[rollout.index[rollout.free]])
        own = -(decision.probabilities[rollout.free] * torch.log_softmax(logits, -1)).sum(-1)
        reached.view(-1)[rollout.index[rollout.free]] = own
        truth = self._s.truth
        loss, figures = self._with_next(batch, hidden, truth * losses + (1 - truth) * reached)
        _add(figures, _by_level(sheet, losses.detach().cpu().numpy(), right.cpu().numpy()))
        figures["loss_own"] = (float(own.detach().sum()), own.numel())
        return loss, figures

    def _with_next(self, batch: Batch, hidden: Tensor, losses: Tensor) -> tuple[Tensor, Figures]:
        following, _ = self._net.losses(hidden, batch.following)
        n = batch.counts.sum().clamp_min(1.0)
        total = (following * batch.counts).sum()
        loss = (losses * batch.weights).sum() / batch.weights.sum().clamp_min(1e-6)
        return loss + self._s.next_weight * total / n, {"loss_next": (float(total.detach()), float(n))}

    def _state(self, batch: Batch) -> State:
        shape = (*batch.cells.shape, self._net.hidden)
        return State(batch.cells, torch.zeros(shape, device=self._device))

    def _rollout(self, grid: Grid, batch: Batch, kept: Any, rng: np.random.Generator) -> Rollout:
        net = self._net
        known = net.embed(batch.cells).detach()

        def decode(cells: Tensor, soft: Tensor) -> Tensor:
            # clamped cells are conditioned on what is known, from the second step on
            later = bool(soft.any())
            return net.decode(batch, cells, torch.where(batch.free.unsqueeze(-1), soft, known) if later else soft, kept)

        return Rollout(grid, decode, net.logits, net.soft, self._banned, self._form.noise, self._sampler, rng)


def _by_level(sheet: Sheet, losses: Any, right: Any) -> Figures:
    """Loss and accuracy of noised cells up to the first fill, by noise level; and of holes alone."""
    hard = sheet.weights >= 1.0
    high, holes = sheet.levels >= 0.5, sheet.holes
    found: Figures = {}
    for name, chosen in (("high", hard & high), ("low", hard & ~high), ("holes", hard & holes)):
        n = float(chosen.sum())
        found[f"loss_{name}"] = (float(losses[chosen].sum()), n)
        found[f"right_{name}"] = (float(right[chosen].sum()), n)
    return found


def _add(found: Figures, more: Figures) -> None:
    for name, (total, count) in more.items():
        before = found.get(name, (0.0, 0.0))
        found[name] = (before[0] + total, before[1] + count)


def _text(region: Sequence[int], fill: int) -> list[int]:
    return list(region[: [*region, fill].index(fill)])


def _format(checkpoint: Path, vocabulary: Vocabulary) -> Format:
    fim = load_format(checkpoint, vocabulary)
    fill, prefix = vocabulary.id(fim.end), vocabulary.id("<|fim_prefix|>")
    if fill is None or prefix is None:
        raise ValueError(f"{checkpoint}: its prompts must have <|fim_prefix|>, and its regions a fill token")
    text = np.setdiff1d(np.arange(vocabulary.size), vocabulary.banned.numpy())
    return Format(tuple(fim.regions), fim.near_suffix, fill, prefix, text)


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
