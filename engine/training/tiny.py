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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

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
from engine.training.run_folder import RunError
from engine.training.sheets import Format, SheetMaker, SheetShape
from engine.training.tiny_batch import TinyNetwork
from engine.training.tiny_losses import Aims, TinyLosses, add
from engine.training.tiny_model import SIZES, build, matrices, n_weights
from engine.training.token_shard import TokenShard

_TOGETHER: Final = 32
"""Holes of one pass of a validation."""


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
        self._maker = SheetMaker(settings.shape, self._form)
        network = build(SIZES[settings.size], vocabulary, settings.seed).to(device)
        places = settings.shape.tokens + max(self._form.regions) + self._form.near
        self._net = TinyNetwork(network, places, device, half, compiled)
        banned = vocabulary.banned
        aims = Aims(
            sampler=settings_from(_read(checkpoint / "generation_config.json"), 0),
            banned=banned[banned != self._form.fill].to(device),
            form=self._form,
            conditioned=settings.conditioned,
            next_weight=settings.next_weight,
            truth=settings.truth,
        )
        self._losses = TinyLosses(self._net, aims)
        # other shapes, seldom met: not worth compiling
        self._judge = TinyLosses(TinyNetwork(network, places, device, half, False) if compiled else self._net, aims)

    # What the loop asks

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Objective`."""
        data = {
            "tokens": self._documents.tokens.fingerprint,
            "train_data": self._documents.holes.fingerprint,
            "valid_data": self._valid.fingerprint,
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
                n_rows = s.shape.rows * (s.shape.tokens + s.shape.cells) // s.shape.tokens  # as many as with canvases
                windows = np.stack([self._documents.tokens.window(s.shape.tokens, rng) for _ in range(n_rows)])
                loss, figures = self._losses.next(windows)
                n_tokens = windows.size
            else:
                rows = [self._documents.row(s.shape.tokens, rng) for _ in range(s.shape.rows)]
                sheet = self._maker.make(rows, rng)
                loss, figures = (
                    self._losses.canvas(sheet, rng) if stage is Stage.CANVAS else self._losses.own(sheet, rng)
                )
                n_tokens = sheet.tokens.size + sheet.cells.size
            yield Piece(loss / s.pieces, figures, n_tokens)

    @torch.no_grad()
    def validate(self) -> Figures:
        """Losses on holes, and how the sampler does on them: exact match in tokens, steps."""
        found: Figures = {}
        for first in range(0, min(self._s.valid, len(self._valid)), _TOGETHER):
            rng = np.random.default_rng((1, first))
            holes = [self._valid[i] for i in range(first, min(first + _TOGETHER, self._s.valid, len(self._valid)))]
            shape = SheetShape(len(holes), self._s.shape.tokens, max(self._form.regions) + self._form.near)
            sheet = SheetMaker(shape, self._form).make([[hole] for hole in holes], rng)
            for figures in (self._judge.canvas(sheet, rng)[1], self._judge.sampled(sheet, rng)):
                add(found, figures)
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
