"""One step under the profiler. Owns: which kernels and calls took longest."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch.profiler import ProfilerActivity

from engine.denoisers.uniform import UniformDenoiser
from gpu_runs.big_model import begun, steps

_TOP: Final = 15


def profile(denoiser: UniformDenoiser, n_prompt: int, n_cells: int, n_rows: int) -> dict[str, Any]:
    """The kernels of a step by time, and how much of the step the device was at work."""
    fill = begun(denoiser, n_prompt, n_cells, n_rows)
    device = denoiser.forward.device
    on_gpu = device.type == "cuda"
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    with torch.profiler.profile(activities=activities) as profiler:
        (step,) = steps(fill, 1, device)
    fill.close()
    rows = []
    for event in profiler.key_averages():
        us = event.self_device_time_total if on_gpu else event.self_cpu_time_total
        kernel = not on_gpu or event.device_type.name == "CUDA"
        if us and kernel:
            rows.append({"name": event.key[:120], "ms": round(us / 1000, 3), "calls": event.count})
    rows.sort(key=lambda row: -row["ms"])
    busy = sum(row["ms"] for row in rows)
    launches = sum(row["calls"] for row in rows)
    return {
        "rows": n_rows,
        "step_ms": round(1000 * step, 3),
        "busy_ms": round(busy, 3),
        "launches": launches,
        "top": rows[:_TOP],
    }
