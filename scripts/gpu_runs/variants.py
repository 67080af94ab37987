"""The same forward pass launched in other ways: as one CUDA graph, and compiled. Owns: those two.

They show what the engine would gain; nothing here is how it runs now.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from engine.denoisers.gemma import GemmaForward
from engine.denoisers.uniform import UniformDenoiser
from gpu_runs.big_model import begun
from gpu_runs.device import seconds_of, synchronized


class _Fixed(GemmaForward):
    """Passes at positions that are known beforehand: looking them up would wait for the device."""

    tables: dict[str, tuple[Tensor, Tensor]]

    def fix(self, positions: Tensor) -> None:
        """From now on, passes are at `positions`."""
        kinds = {layer.type for layer in self.layers}
        self.tables = {kind: GemmaForward._rotary_at(self, kind, positions) for kind in kinds}

    def _rotary_at(self, kind: str, positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.tables[kind]


def graphed(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int) -> dict[str, Any]:
    """Milliseconds of layers and head, launched one by one and as one graph."""
    return _variants(denoiser, n_prompt, n_cells, n_rows, compile_it=False)


def compiled(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int) -> dict[str, Any]:
    """As `graphed`, of compiled layers."""
    return _variants(denoiser, n_prompt, n_cells, n_rows, compile_it=True)


def _variants(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int, compile_it: bool) -> dict[str, Any]:
    fill = begun(denoiser, n_prompt, n_cells, n_rows)
    device, rows, soft = denoiser.forward.device, fill._rows, fill._soft
    assert rows is not None
    forward = _Fixed(denoiser.forward.model)
    forward.fix(fill._positions)
    canvas, positions, masks = fill.canvas, fill._positions, fill._masks
    found: dict[str, Any] = {}
    try:
        with torch.inference_mode():

            def plain() -> Tensor:
                return forward.logits(forward.decode(canvas, soft, positions, rows, masks))

            work: Any = torch.compile(plain) if compile_it else plain
            started = time.perf_counter()
            before = plain()
            work()
            synchronized(device)
            found["first_s"] = round(time.perf_counter() - started, 2)
            found["launched_ms"] = round(1000 * seconds_of(work, device), 3)
            stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(stream):
                for _ in range(2):
                    work()
            torch.cuda.current_stream(device).wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                after = work()
            found["graph_ms"] = round(1000 * seconds_of(graph.replay, device), 3)
            found["difference"] = float((before - after).abs().max())
    except Exception as error:  # a variant that does not work is a finding, too
        found["error"] = f"{type(error).__name__}: {error}"[:500]
    finally:
        fill.close()
    return found
