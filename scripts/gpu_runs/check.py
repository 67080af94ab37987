"""`scripts/gpu_check`: which sections it has, and its table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from gpu_runs.names import ENVIRONMENT, LARGE, PARITY
from gpu_runs.record import Record
from gpu_runs.sections import Clock, Section
from gpu_runs.start import conduct, device_of
from gpu_runs.tables import table

_COMPARED: Final = (
    "model",
    "ok",
    "steps",
    "steps_equal",
    "probability_difference",
    "texts_equal",
    "kv_difference_after_edits",
    "kv_difference_after_edits_as_served",
    "error",
)
_STEPS: Final = (
    "cells",
    "rows",
    "step_ms",
    "floor_ms",
    "of_floor",
    "touched_gb",
    "distinct_experts",
    "sampler_share",
    "tokens_per_s",
    "peak_gb",
    "error",
)


def check(script: Path, arguments: Sequence[str], given: argparse.Namespace) -> int:
    """Run it; 0 when all went well."""
    sections = [
        Section(ENVIRONMENT, partial(_environment, given), share=0.15),
        Section(PARITY, partial(_parity, given), share=0.25),
        Section(LARGE, partial(_large, given), share=0.6),
    ]
    return conduct(script, given, arguments, sections, Record(given.out / "gpu_check.json"), told)


# What a section needs is imported in its own process


def _environment(given: argparse.Namespace, record: Record, clock: Clock) -> None:
    from gpu_runs.environment import environment

    environment(record, clock, device_of(given.device), given.tiny)


def _parity(given: argparse.Namespace, record: Record, clock: Clock) -> None:
    from gpu_runs.parity import parity

    parity(record, clock, device_of(given.device))


def _large(given: argparse.Namespace, record: Record, clock: Clock) -> None:
    from gpu_runs.big import big

    big(record, clock, device_of(given.device), given.tiny)


def told(record: Record) -> str:
    """All findings as text."""
    found = record.read()
    machine, same, large = (found.get(name, {}) for name in (ENVIRONMENT, PARITY, LARGE))
    runs = [{"section": name, **one} for name, one in found.items()]
    head = {name: large[name] for name in ("n_parameters", "weights_gb", "memory_gb", "built_s") if name in large}
    return "\n".join(
        filter(
            None,
            (
                table("Sections", runs, ("section", "status", "seconds", "error")),
                table("Machine", _pairs(machine), ("name", "value")),
                table(
                    "The device's results beside the host's (float32)",
                    same.get("rows", []),
                    _COMPARED,
                ),
                table("DiffusionGemma, random weights", _pairs(head), ("name", "value")),
                table("Experts: a step by implementation", _experts(large), ("implementation", "ms")),
                table("Prefill", large.get("prefill", []), ("tokens", "ms", "tokens_per_s")),
                table(
                    "Denoising steps",
                    large.get("steps", []),
                    _STEPS,
                ),
                table(
                    "Parts of a step, ms",
                    large.get("parts", []),
                    ("cells", "rows", "layers_ms", "head_ms", "allow_ms", "decide_ms", "condition_ms", "judge_ms"),
                ),
                *(_variants(name, large) for name in ("graphs", "compiled")),
                *(_profile(one) for one in large.get("profiles", [])),
            ),
        )
    )


def _pairs(found: dict[str, Any]) -> list[dict[str, Any]]:
    flat = {name: value for name, value in found.items() if name not in ("status", "seconds", "given_s", "error")}
    return [{"name": name, "value": value} for name, value in flat.items()]


def _experts(large: dict[str, Any]) -> list[dict[str, Any]]:
    experts = large.get("experts", {})
    marks = {experts.get("default"): "default", experts.get("used"): "used"}
    return [
        {"implementation": f"{name} ({marks[name]})" if name in marks else name, "ms": ms}
        for name, ms in experts.get("step_ms", {}).items()
    ]


def _variants(name: str, large: dict[str, Any]) -> str:
    title = {"graphs": "Layers and head as one CUDA graph", "compiled": "The same, compiled"}[name]
    columns = ("cells", "rows", "first_s", "launched_ms", "graph_ms", "difference", "error")
    return table(title, large.get(name, []), columns)


def _profile(one: dict[str, Any]) -> str:
    title = (
        f"One step of {one['rows']} x {one['cells']} cells: {one['step_ms']} ms, the device at work for"
        f" {one['busy_ms']} ms, {one['launches']} launches"
    )
    return table(title, one["top"], ("ms", "calls", "name"))
