"""What the machine is and has. Owns: that section."""

from __future__ import annotations

import os
import platform
import subprocess

import torch

from gpu_runs import device as measured
from gpu_runs.names import ENVIRONMENT
from gpu_runs.packages import FOR_TRAINING, NEEDED, versions
from gpu_runs.record import Record
from gpu_runs.sections import Clock, told


def environment(record: Record, clock: Clock, device: str, tiny: bool) -> None:
    """Versions, the device, its bandwidth."""
    chosen = torch.device(device)
    record.put(
        ENVIRONMENT,
        python=platform.python_version(),
        system=platform.platform(),
        cores=os.cpu_count(),
        packages=versions([*NEEDED, *FOR_TRAINING, "triton"]),
        device=measured.described(chosen),
        driver=_driver(),
    )
    size = 2**22 if tiny else 2**32
    with torch.inference_mode():
        record.put(ENVIRONMENT, copy_gb_s=round(measured.copy_bytes_per_second(chosen, size) / 1e9, 1))
        record.put(ENVIRONMENT, read_gb_s=round(measured.read_bytes_per_second(chosen, size) / 1e9, 1))
        record.put(ENVIRONMENT, bf16_tflop_s=round(measured.flops(chosen, 128 if tiny else 8192) / 1e12, 3))
    told(f"environment: {record.read()[ENVIRONMENT]}")


def _driver() -> str:
    asked = ["nvidia-smi", "--query-gpu=name,driver_version,memory.used,clocks.sm", "--format=csv,noheader"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return f"not to be asked: {type(error).__name__}"
