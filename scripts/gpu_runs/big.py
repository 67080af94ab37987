"""The large model at its real size: prefill and step times beside the floor. Owns: what is measured, in which order.

What matters most comes first: the section may be ended at any moment, and each row is written as soon as it is there.
"""

from __future__ import annotations

import gc
import statistics
import time
from typing import Any, Final

import torch

from engine.denoisers.uniform import UniformDenoiser, UniformDenoising
from gpu_runs import device as measured
from gpu_runs import models
from gpu_runs.big_model import begun, big_denoiser, denoising, steps
from gpu_runs.floor import bytes_touched, routed
from gpu_runs.names import LARGE
from gpu_runs.profiles import profile
from gpu_runs.record import Record
from gpu_runs.sections import Clock, told
from gpu_runs.step_parts import parts
from gpu_runs.variants import compiled, graphed

_PROMPT: Final = 512
_SHAPES: Final = ((256, 1), (32, 1), (64, 1), (256, 8), (256, 4), (32, 8), (64, 8), (32, 4), (64, 4))
"""Cells and rows."""
_TINY_SHAPES: Final = ((32, 1), (8, 4))
_STEPS: Final = 16
"""Denoising steps that a canvas is assumed to take."""
_MOST_BATCHED: Final = 20e9
"""Bytes that copies of experts' weights may take: one implementation makes one for each token and expert."""


def big(record: Record, clock: Clock, device_name: str, tiny: bool) -> None:
    """Build, then measure."""
    device = torch.device(device_name)
    sizes = models.TINY if tiny else models.REAL
    started = time.perf_counter()
    denoiser, network = big_denoiser(sizes, device, torch.float32 if tiny else torch.bfloat16)
    measured.synchronized(device)
    record.put(
        LARGE,
        built_s=round(time.perf_counter() - started, 1),
        n_parameters=denoiser.model.n_parameters,
        weights_gb=round(sum(w.numel() * w.element_size() for w in network.parameters()) / 1e9, 2),
        memory_gb=_memory(device),
        sizes=sizes,
    )
    told(f"{LARGE}: built in {record.read()[LARGE]['built_s']} s")
    bandwidth = _bandwidth(record, device, tiny)
    prompt = 48 if tiny else _PROMPT
    shapes = _TINY_SHAPES if tiny else _SHAPES
    _implementations(record, clock, denoiser, network, prompt, shapes[0])
    for n_prompt in (prompt, 4 * prompt):
        _prefill(record, denoiser, n_prompt)
    for n_cells, n_rows in shapes:
        if clock.left < 3:
            break
        _step(record, denoiser, network, prompt, n_cells, n_rows, bandwidth)
    for n_cells, n_rows in shapes[:2]:
        if clock.left > 8:
            record.add(LARGE, "parts", {"cells": n_cells, **parts(denoiser, prompt, n_cells, n_rows)})
    for n_cells, n_rows in shapes[:2]:
        if clock.left > 12:
            record.add(LARGE, "profiles", {"cells": n_cells, **profile(denoiser, prompt, n_cells, n_rows)})
    if device.type == "cuda":
        for n_cells, n_rows in (*shapes[:2], *shapes[3:4]):
            if clock.left > 10:
                record.add(
                    LARGE, "graphs", {"cells": n_cells, "rows": n_rows, **graphed(denoiser, prompt, n_cells, n_rows)}
                )
        if clock.left > 60:  # last: it may take longer than there is time for
            record.add(LARGE, "compiled", {"cells": 256, "rows": 1, **compiled(denoiser, prompt, 256, 1)})


def _bandwidth(record: Record, device: torch.device, tiny: bool) -> float:
    """Bytes read and written per second by a copy, as measured before or now."""
    known = record.read().get("environment", {}).get("copy_gb_s")
    return known * 1e9 if known else measured.copy_bytes_per_second(device, 2**22 if tiny else 2**32)


def _implementations(
    record: Record, clock: Clock, denoiser: UniformDenoiser, network: Any, n_prompt: int, shape: tuple[int, int]
) -> None:
    """A step by each of the library's ways to run experts; goes on with the quickest."""
    default = network.config.text_config._experts_implementation
    n_cells, n_rows = shape
    layer = network.model.decoder.layers[0].experts
    per_pair = sum(w[0].numel() * w.element_size() for w in layer.parameters())
    found: dict[str, float | str] = {}
    for name in dict.fromkeys((default, "grouped_mm", "eager", "batched_mm")):
        if (
            name == "batched_mm"
            and per_pair * n_cells * n_rows * network.config.text_config.top_k_experts > _MOST_BATCHED
        ):
            found[name] = "not tried: it would copy too much"
            continue
        if clock.left < 20:
            break
        try:
            network.set_experts_implementation(name)
            fill = begun(denoiser, n_prompt, n_cells, n_rows)
            found[name] = round(1000 * statistics.median(steps(fill, 4, denoiser.forward.device)), 3)
            fill.close()
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"[:300]
        record.put(LARGE, experts={"default": default, "step_ms": found})
    times = {name: value for name, value in found.items() if isinstance(value, float)}
    best = min(times, key=lambda name: times[name]) if times else default
    network.set_experts_implementation(best)
    record.put(LARGE, experts={"default": default, "step_ms": found, "used": best})
    told(f"{LARGE}: experts {found}, used: {best}")


def _prefill(record: Record, denoiser: UniformDenoiser, n_prompt: int) -> None:
    device = denoiser.forward.device
    took: list[float] = []
    for _ in range(3):
        denoiser.cache.clear()
        fill = denoising(denoiser, n_prompt, 8, 1)
        measured.synchronized(device)
        started = time.perf_counter()
        while not fill._prefill.done:
            fill.advance()
        measured.synchronized(device)
        took.append(time.perf_counter() - started)
        fill.close()
    row = {"tokens": n_prompt, "ms": _ms(min(took)), "tokens_per_s": round(n_prompt / min(took))}
    record.add(LARGE, "prefill", row)
    told(f"{LARGE}: prefill {row}")


def _step(
    record: Record,
    denoiser: UniformDenoiser,
    network: Any,
    n_prompt: int,
    n_cells: int,
    n_rows: int,
    bandwidth: float,
) -> None:
    device = denoiser.forward.device
    row: dict[str, Any] = {"cells": n_cells, "rows": n_rows}
    try:
        _free(device)
        fill = begun(denoiser, n_prompt, n_cells, n_rows)
        before = fill.counts
        took = steps(fill, 6, device)
        after = fill.counts
        with routed(network) as experts:
            fill.advance()
        kv_bytes = sum(t.numel() * t.element_size() for t in _kept(fill))
        touched = bytes_touched(network, experts.distinct, kv_bytes * n_rows)
        step = statistics.median(took)
        total = sum(touched.values())
        forward = after.forward_ms - before.forward_ms
        denoise = after.denoise_ms - before.denoise_ms
        row |= {
            "step_ms": _ms(step),
            "fastest_ms": _ms(min(took)),
            "floor_ms": _ms(total / bandwidth),
            "of_floor": round(total / bandwidth / step, 3),
            "touched_gb": round(total / 1e9, 3),
            "touched": touched,
            "distinct_experts": round(experts.mean, 1),
            "sampler_share": round(1 - forward / denoise, 3),
            "tokens_per_s": round(n_cells * n_rows / (_STEPS * step)),
            "peak_gb": _peak(device),
        }
        fill.close()
    except torch.OutOfMemoryError as error:
        row["error"] = str(error).splitlines()[0][:200]
    record.add(LARGE, "steps", row)
    told(f"{LARGE}: step { {name: value for name, value in row.items() if name != 'touched'} }")


def _kept(fill: UniformDenoising) -> list[torch.Tensor]:
    """Keys and values of the prompt that a canvas sees."""
    rows = fill._rows
    assert rows is not None
    return [t[:1, :, : rows.visible(layer)] for layer, pair in enumerate(rows._buffers) for t in pair]


def _free(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def _peak(device: torch.device) -> float:
    return round(torch.cuda.max_memory_allocated(device) / 1e9, 2) if device.type == "cuda" else 0.0


def _memory(device: torch.device) -> float:
    return round(torch.cuda.memory_allocated(device) / 1e9, 2) if device.type == "cuda" else 0.0


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 3)
