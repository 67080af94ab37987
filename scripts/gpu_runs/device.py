"""The device itself: what it is, how quickly it copies and multiplies. Owns: those measurements."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch


def synchronized(device: torch.device) -> None:
    """Wait for what was launched."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds_of(work: Callable[[], Any], device: torch.device, n: int = 5, warm_up: int = 2) -> float:
    """Median wall time of `work`, its results waited for."""
    for _ in range(warm_up):
        work()
    took = []
    for _ in range(n):
        synchronized(device)
        started = time.perf_counter()
        work()
        synchronized(device)
        took.append(time.perf_counter() - started)
    return statistics.median(took)


def described(device: torch.device) -> dict[str, Any]:
    """Name and memory."""
    if device.type != "cuda":
        return {"name": device.type, "threads": torch.get_num_threads()}
    told = torch.cuda.get_device_properties(device)
    return {
        "name": told.name,
        "memory_gb": round(told.total_memory / 1e9, 1),
        "capability": f"{told.major}.{told.minor}",
        "multiprocessors": told.multi_processor_count,
        "cuda": torch.version.cuda,
    }


def copy_bytes_per_second(device: torch.device, n_bytes: int) -> float:
    """Bytes read and written per second by a copy within the device's memory."""
    source = torch.ones(n_bytes // 4, dtype=torch.float32, device=device)
    into = torch.empty_like(source)
    return 2 * n_bytes / seconds_of(lambda: into.copy_(source), device)


def read_bytes_per_second(device: torch.device, n_bytes: int) -> float:
    """Bytes read per second by a product of a large matrix with one vector: how a step reads its weights."""
    rows = n_bytes // 2 // 4096
    matrix = torch.ones(rows, 4096, dtype=torch.bfloat16, device=device)
    vector = torch.ones(4096, dtype=torch.bfloat16, device=device)
    return rows * 4096 * 2 / seconds_of(lambda: torch.mv(matrix, vector), device)


def flops(device: torch.device, n: int) -> float:
    """Operations per second of a product of two `n` x `n` matrices in bfloat16."""
    left = torch.randn(n, n, device=device, dtype=torch.bfloat16)
    right = torch.randn(n, n, device=device, dtype=torch.bfloat16)
    return float(2 * n**3 / seconds_of(lambda: left @ right, device))
