"""A low-rank adapter on a causal model, active on chosen cells of a pass. Owns: its files, and where it acts.

The cells at the end of a pass are the canvas and get the adapter; all cells before them get the base weights and
nothing else, so that their keys and values are those of the base. The files are peft's own (LoRA: arXiv 2106.09685),
and the embedding of a masked cell beside them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor, nn

from engine.denoisers.denoiser import DenoiserError

_CONFIG: Final = "adapter_config.json"
_WEIGHTS: Final = "adapter_model.safetensors"
_MASK: Final = "mask.safetensors"
_ROOT: Final = "base_model.model."
_A, _B = ".lora_A.weight", ".lora_B.weight"


class Adapter:
    """An adapter hung onto a network. Set `n_canvas` before each pass."""

    def __init__(self, network: Any, folder: Path) -> None:
        """Read the folder's adapter and hang it onto `network`. Raises `DenoiserError` when it doesn't fit."""
        self.n_canvas = 0
        """Cells at the end of the next pass that the adapter acts on."""
        weights = _read(folder / _WEIGHTS)
        mask = _read(folder / _MASK).get("mask_embedding")
        embedding: Tensor = network.get_input_embeddings().weight
        if mask is None or mask.shape != embedding.shape[1:]:
            raise DenoiserError(f"{folder}: its {_MASK} does not fit the base model; is this the adapter's base?")
        self.mask = mask.to(embedding)
        """The embedding of a masked cell, `[hidden]`."""
        self.n_parameters = sum(weight.numel() for weight in weights.values()) + mask.numel()
        scale = _scale(folder / _CONFIG)
        names = sorted(name.removesuffix(_A) for name in weights if name.endswith(_A))
        if not names or len(weights) != 2 * len(names):
            raise DenoiserError(f"{folder / _WEIGHTS} holds more, or less, than pairs of low-rank matrices")
        for name in names:
            path = name.removeprefix(_ROOT)
            try:
                base = network.get_submodule(path)
                down, up = weights[name + _A], weights[name + _B] * scale
            except (AttributeError, KeyError):
                raise DenoiserError(f"{folder}: the base model has no layer {path} for this adapter") from None
            if not isinstance(base, nn.Linear) or (down.shape[1], up.shape[0]) != (base.in_features, base.out_features):
                raise DenoiserError(f"{folder}: layer {path} has another shape; is this the adapter's base?")
            network.set_submodule(path, AdaptedLinear(base, down.to(base.weight), up.to(base.weight), self))


class AdaptedLinear(nn.Module):
    """A linear layer whose last cells are changed by two small matrices."""

    def __init__(self, base: nn.Linear, down: Tensor, up: Tensor, adapter: Adapter) -> None:
        super().__init__()
        self._base, self._adapter = base, adapter
        self._down, self._up = down.T.contiguous(), up.T.contiguous()

    def forward(self, hidden: Tensor) -> Tensor:
        """`[rows, cells, in]` -> `[rows, cells, out]`."""
        out: Tensor = self._base(hidden)
        if n := self._adapter.n_canvas:
            out[:, -n:] += hidden[:, -n:] @ self._down @ self._up
        return out


def _read(file: Path) -> dict[str, Tensor]:
    try:
        return safetensors.torch.load_file(file)
    except FileNotFoundError:
        raise DenoiserError(f"{file} is missing; export the adapter again") from None
    except (OSError, SafetensorError) as error:
        raise DenoiserError(f"{file} can't be read: {error}") from None


def _scale(file: Path) -> float:
    try:
        stated = json.loads(file.read_text(encoding="utf-8"))
        rank, alpha = int(stated["r"]), float(stated["lora_alpha"])
        unknown = [name for name in ("use_dora", "use_rslora", "rank_pattern", "alpha_pattern") if stated.get(name)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DenoiserError(f"{file} can't be read as a LoRA's configuration: {error}") from None
    if unknown or rank < 1:
        raise DenoiserError(
            f"{file}: only plain LoRA can be run here, not one with {', '.join(unknown) or f'r={rank}'}"
        )
    return alpha / rank
