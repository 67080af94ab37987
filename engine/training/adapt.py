"""Adaptation: a causal model's own weights learn to denoise a canvas behind their prompt. Owns: the objective.

The prompt is encoded by the base weights alone, without gradient, so its keys and values stay what they were. A
low-rank adapter (LoRA: Hu et al., arXiv 2106.09685), active on canvas cells only, and one embedding for masked cells
are all that is trained. The first cell of a canvas re-runs the pending token, and the output at cell i predicts cell
i + 1, as the base was trained to (the shift of Gong et al., "Scaling Diffusion Language Models via Adaptation", arXiv
2410.17891, whose gradual opening of the attention is `opening` here). Targets are the true middle and the base's own
greedy text: the first is what is wanted, the second what its causal pass will accept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import peft
import safetensors.torch
import torch
from attrs import field, frozen
from attrs.validators import ge, le
from torch import Tensor
from torch.nn import functional as F
from torch.optim import Optimizer

from engine.training.adapted_model import AdaptedModel
from engine.training.canvases import MASK, Canvas, Ints, Noise, NoiseShares, noised
from engine.training.examples import Example, ExampleSet
from engine.training.objective import Figures, Piece

SlipFrom = Callable[[Sequence[int], np.random.Generator, Ints], Sequence[int]]
"""Makes plausible mistakes in tokens, with others of the same file at hand; keeps their number."""


@frozen
class AdaptationSettings:
    """What an adaptation is."""

    seed: int = 0
    rank: int = 16
    """Rank of the adapter."""
    region: int = 16
    """Free cells of a canvas."""
    near_suffix: int = 8
    """Suffix tokens clamped behind them."""
    shorter: float = field(default=0.35, validator=[ge(0.0), le(1.0)])
    """Share of steps whose canvases have half as many free cells: a machine without a GPU pays for every cell."""
    bare: float = field(default=0.25, validator=[ge(0.0), le(1.0)])
    """Share of steps without clamped tokens; the prompt quotes the suffix in any case."""
    examples: int = 2
    """Examples a step."""
    together: int = 2
    """Examples a forward pass: as many as memory allows."""
    canvases: int = 8
    """Canvases per example, all over the same encoded prompt."""
    own: float = 0.4
    """Share of canvases whose target is the model's own greedy text."""
    lr: float = 4e-4
    opening: int = 100
    """Steps in which cells learn to see what lies to their right; 0: from the first on."""
    shares: NoiseShares = field(factory=NoiseShares)
    valid: int = 32
    """Examples of a validation."""


class Adaptation:
    """The objective: a LoRA on a causal model, on canvas cells only."""

    def __init__(
        self,
        base: Path,
        base_name: str,
        train: ExampleSet,
        valid: ExampleSet,
        settings: AdaptationSettings,
        slip: SlipFrom,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        """`base`: the checkpoint's folder. `base_name`: how the adapter will name it."""
        self._s, self._base_name, self._train, self._valid, self._slip = settings, base_name, train, valid, slip
        self.model = AdaptedModel(base, settings.rank, settings.seed, device, dtype)
        self._epoch, self._order = -1, np.arange(0)

    # What the loop asks

    @property
    def settings(self) -> Mapping[str, Any]:
        """See `Objective`."""
        data = {
            "base": self._base_name,
            "train_data": self._train.fingerprint,
            "valid_data": self._valid.fingerprint,
        }
        return {"objective": "adapt", **data, **attrs.asdict(self._s)}

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The adapter's matrices and the mask's embedding."""
        found = {name: weight for name, weight in self.model.peft.named_parameters() if weight.requires_grad}
        return {**found, "mask_embedding": self.model.mask}

    def optimizers(self) -> list[Optimizer]:
        """AdamW, without decay: the base weights are what the adapter should stay near."""
        return [torch.optim.AdamW(list(self.weights.values()), lr=self._s.lr, betas=(0.9, 0.98), weight_decay=0.0)]

    def pieces(self, step: int) -> Iterator[Piece]:
        """The examples of a step, `together` at a time."""
        s, rng = self._s, np.random.default_rng((self._s.seed, step))
        region = s.region // 2 if rng.random() < s.shorter else s.region
        sizes = (max(1, region), 0 if rng.random() < s.bare else s.near_suffix)
        for first in range(0, s.examples, s.together):
            numbers = range(first, min(s.examples, first + s.together))
            examples = [self._train[self._index(step * s.examples + k)] for k in numbers]
            rngs = [np.random.default_rng((s.seed, step, k)) for k in numbers]
            opened = min(1.0, (step + 1) / s.opening) if s.opening else 1.0
            loss, figures, n_tokens = self._loss(examples, rngs, sizes, opened)
            yield Piece(loss * len(examples) / s.examples, figures, n_tokens)

    @torch.no_grad()
    def validate(self) -> Figures:
        """Loss and accuracy by kind of noise, and how many drafted cells in a row the base's own pass would accept."""
        found: Figures = {}
        for index in range(min(self._s.valid, len(self._valid))):
            sizes = (self._s.region, self._s.near_suffix)
            _, figures, _ = self._loss([self._valid[index]], [np.random.default_rng((1, index))], sizes, 1.0)
            for name, (total, count) in figures.items():
                before = found.get(name, (0.0, 0.0))
                found[name] = (before[0] + total, before[1] + count)
        return found

    def export(self, folder: Path, told: Mapping[str, Any]) -> None:
        """The adapter's folder: peft's two files, the mask's embedding, and how it is run."""
        folder.mkdir(parents=True, exist_ok=True)
        self.model.peft.peft_config["default"].base_model_name_or_path = self._base_name
        self.model.peft.peft_config["default"].inference_mode = True
        self.model.peft.peft_config["default"].save_pretrained(str(folder))
        state = peft.get_peft_model_state_dict(self.model.peft, save_embedding_layers=False)
        tensors = {name: weight.detach().to("cpu", torch.bfloat16).contiguous() for name, weight in state.items()}
        safetensors.torch.save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
        mask = {"mask_embedding": self.model.mask.detach().to("cpu", torch.bfloat16)}
        safetensors.torch.save_file(mask, folder / "mask.safetensors", metadata={"format": "pt"})
        denoiser = {
            "base": self._base_name,
            "region": self._s.region,
            "near_suffix": self._s.near_suffix,
            "fill": self.model.fill_name,
            "threshold": 0.9,
        }
        training = {**told, "canvases": int(told.get("step", 0)) * self._s.examples * self._s.canvases}
        record = json.dumps({"denoiser": denoiser, "training": training}, indent=2)
        (folder / "midfill.json").write_text(record + "\n", encoding="utf-8")

    # One batch

    def _index(self, n: int) -> int:
        """The n-th example of the run: every epoch has an order of its own."""
        epoch, place = divmod(n, len(self._train))
        if epoch != self._epoch:
            self._epoch, self._order = epoch, np.random.default_rng((self._s.seed, epoch)).permutation(len(self._train))
        return int(self._order[place])

    def _loss(
        self, examples: Sequence[Example], rngs: Sequence[np.random.Generator], sizes: tuple[int, int], opened: float
    ) -> tuple[Tensor, Figures, int]:
        s, (n_region, n_near) = self._s, sizes
        with torch.no_grad(), self.model.peft.disable_adapter():
            encoded, n_tokens = self.model.encode(examples)
            begun = [int(rng.integers(1, max(2, len(e.middle)))) for e, rng in zip(examples, rngs, strict=True)]
            own, n_own = self.model.greedy(examples, encoded, begun, n_region)
        canvases = [
            [self._canvas(e, mine, g, n_region, rng) for _ in range(s.canvases)]
            for e, mine, g, rng in zip(examples, own, begun, rngs, strict=True)
        ]
        hidden = self.model.denoise(examples, canvases, encoded, n_near, opened)
        region = slice(0, n_region)
        targets = torch.tensor(np.array([[c.targets for c in row] for row in canvases]), device=self.model.device)
        weights = torch.tensor(np.array([[c.weights for c in row] for row in canvases]), device=self.model.device)
        chosen = weights > 0
        logits = self.model.head(hidden[:, :, region][chosen]).float()
        losses = F.cross_entropy(logits, targets[chosen], reduction="none")
        loss = (losses * weights[chosen]).sum() / weights.sum().clamp_min(1e-6)
        best = torch.full_like(targets, MASK)
        best[chosen] = logits.detach().argmax(-1)
        figures = self._figures(canvases, losses.detach(), chosen, best, targets, own, begun)
        n_cells = targets.shape[0] * targets.shape[1] * (1 + n_region + n_near)
        return loss, figures, n_tokens + n_own + n_cells

    def _canvas(
        self, example: Example, own: Sequence[int], begun: int, n_region: int, rng: np.random.Generator
    ) -> Canvas:
        s, middle = self._s, [int(token) for token in example.middle]
        noise = s.shares.draw(rng)
        mine = bool(own) and rng.random() < s.own
        text = [*middle[:begun], *own] if mine else middle
        furthest = begun if mine else len(middle)  # further on, the base has no keys and values of its own text
        start = 0 if rng.random() < 0.3 else begun if mine else int(rng.integers(0, furthest + 1))
        pool = np.concatenate((example.prompt, example.middle)).astype(np.int64)

        def slip(tokens: Sequence[int], rng: np.random.Generator) -> Sequence[int]:
            return self._slip(tokens, rng, pool)

        return noised(text, start, n_region, self.model.fill, noise, slip, rng)

    def _figures(
        self,
        canvases: Sequence[Sequence[Canvas]],
        losses: Tensor,
        chosen: Tensor,
        best: Tensor,
        targets: Tensor,
        own: Sequence[Sequence[int]],
        begun: Sequence[int],
    ) -> Figures:
        spread = torch.zeros(targets.shape, device=targets.device)
        spread[chosen] = losses
        host, right = spread.cpu().numpy(), (best == targets).cpu().numpy()
        figures: Figures = {}

        def add(name: str, total: float, count: float) -> None:
            before = figures.get(name, (0.0, 0.0))
            figures[name] = (before[0] + total, before[1] + count)

        for i, row in enumerate(canvases):
            for j, canvas in enumerate(row):
                hard = canvas.weights >= 1.0  # noised cells, up to the first fill
                add(f"loss_{canvas.noise}", float(host[i, j][hard].sum()), float(hard.sum()))
                add(f"right_{canvas.noise}", float(right[i, j][hard].sum()), float(hard.sum()))
                if canvas.noise is Noise.ALL and own[i] and canvas.start == begun[i]:
                    drafted = best[i, j].tolist()
                    n = 0
                    while n < len(own[i]) and drafted[n] == own[i][n]:
                        n += 1
                    add("agreed", n, 1.0)
                    add("agreed_share", n, len(own[i]))
                    add("agreed_first", min(n, 1), 1.0)
        return figures
