"""The large model's stand-in is served by the engine's own steps, and what is counted of them is right."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from gpu_runs import models
from gpu_runs.big_model import begun, big_denoiser
from gpu_runs.floor import bytes_touched, routed
from gpu_runs.variants import _Fixed

from engine.denoisers.uniform import UniformDenoiser


@pytest.fixture(scope="module")
def built() -> tuple[UniformDenoiser, Any]:
    torch.manual_seed(0)
    return big_denoiser(models.TINY, torch.device("cpu"), torch.float32)


def test_fixed_positions_change_nothing(built: tuple[UniformDenoiser, Any]) -> None:
    denoiser, network = built
    fill = begun(denoiser, 40, 12, 2)
    forward = _Fixed(network)
    forward.fix(fill._positions)
    rows = fill._rows
    assert rows is not None
    with torch.inference_mode():
        expected = denoiser.forward.decode(fill.canvas, fill._soft, fill._positions, rows, fill._masks)
        assert torch.equal(forward.decode(fill.canvas, fill._soft, fill._positions, rows, fill._masks), expected)
    fill.close()


def test_experts_are_counted_per_layer(built: tuple[UniformDenoiser, Any]) -> None:
    denoiser, network = built
    fill = begun(denoiser, 40, 1, 1)
    with routed(network) as experts:
        fill.advance()
    fill.advance()
    fill.close()
    assert experts.distinct == [models.TINY["top_k_experts"]] * models.TINY["num_hidden_layers"]  # of a single cell
    assert experts.mean == models.TINY["top_k_experts"]


def test_a_step_touches_less_with_fewer_experts(built: tuple[UniformDenoiser, Any]) -> None:
    _, network = built
    few, all_of_them = (bytes_touched(network, [n] * 6, 1000) for n in (2, 8))
    assert few["experts"] * 4 == all_of_them["experts"]
    assert {name: few[name] for name in few if name != "experts"} == {
        name: all_of_them[name] for name in all_of_them if name != "experts"
    }
    assert few["keys_and_values"] == 1000
