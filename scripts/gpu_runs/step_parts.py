"""Where a step's time goes, part by part. Owns: those timings; the parts are the engine's own functions."""

from __future__ import annotations

from typing import Any

import torch

from engine.denoisers.sampler import decide
from engine.denoisers.uniform import UniformDenoiser
from gpu_runs.big_model import begun
from gpu_runs.device import seconds_of


def parts(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int) -> dict[str, Any]:
    """Milliseconds of each part of a step of `n_rows` canvases."""
    fill = begun(denoiser, n_prompt, n_cells, n_rows)
    forward, device = denoiser.forward, denoiser.forward.device
    rows = fill._rows
    assert rows is not None and fill.decision is not None
    found: dict[str, Any] = {"rows": n_rows}

    def timed(name: str, work: Any) -> None:
        found[f"{name}_ms"] = round(1000 * seconds_of(work, device), 3)

    with torch.inference_mode():
        hidden = forward.decode(fill.canvas, fill._soft, fill._positions, rows, fill._masks)
        logits = forward.logits(hidden)
        uniform = torch.rand(fill._free.shape, dtype=torch.float64, device=device)
        renoise = torch.zeros(fill._free.shape, dtype=torch.long, device=device)
        decision = fill.decision
        timed("layers", lambda: forward.decode(fill.canvas, fill._soft, fill._positions, rows, fill._masks))
        timed("head", lambda: forward.logits(hidden))
        timed("allow", lambda: fill.allow(logits))
        timed("decide", lambda: decide(logits, 0.6, 0.1, uniform, renoise, fill._free))
        timed("condition", lambda: fill._condition(decision.probabilities))
        timed("judge", lambda: fill._judge(decision))
    fill.close()
    return found
