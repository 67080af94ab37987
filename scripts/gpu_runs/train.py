"""`scripts/gpu_train`: which sections it has, and its table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from gpu_runs.data import Data
from gpu_runs.names import ADAPT, ENVIRONMENT
from gpu_runs.record import Record
from gpu_runs.sections import Clock, Section, told
from gpu_runs.start import conduct, device_of
from gpu_runs.tables import table

_SIZES: Final = ("large", "bundled")
"""Of the tiny model."""


def train(script: Path, arguments: Sequence[str], given: argparse.Namespace) -> int:
    """Run it; 0 when all went well."""
    data = Data(given.data)
    if missing := data.missing():
        told(f"{given.data} lacks {', '.join(missing)}; make it with: scripts/gpu_train pack")
        return 2
    sections = [
        Section(ENVIRONMENT, partial(_environment, given), share=0.1),
        Section(ADAPT, partial(_adapt, given, data), share=0.4),
        *(
            Section(f"tiny-{size}", partial(_tiny, given, data, size), share=0.25)
            for size in (("micro",) if given.tiny else _SIZES)
        ),
    ]
    return conduct(script, given, arguments, sections, Record(given.out / "gpu_train.json"), shown)


# What a section needs is imported in its own process


def _environment(given: argparse.Namespace, record: Record, clock: Clock) -> None:
    from gpu_runs.environment import environment

    environment(record, clock, device_of(given.device), given.tiny)


def _tiny(given: argparse.Namespace, data: Data, size: str, record: Record, clock: Clock) -> None:
    from gpu_runs.train_tiny import train_tiny

    device = device_of(given.device)
    train_tiny(record, clock, f"tiny-{size}", size, data, given.out, device, given.tiny, given.compile)


def _adapt(given: argparse.Namespace, data: Data, record: Record, clock: Clock) -> None:
    from engine.models.resolve import Kind, ModelNotFoundError, resolve

    try:
        found = resolve(given.base)
    except ModelNotFoundError as error:
        record.put(ADAPT, skipped=f"no base: {error}")
        told(f"{ADAPT}: no base: {error}")
        return
    from gpu_runs.train_adapt import train_adapt

    name = str(found.path) if found.kind is Kind.PATH else found.name
    train_adapt(record, clock, found.path, name, data, given.out, device_of(given.device), given.tiny)


def shown(record: Record) -> str:
    """All findings as text."""
    found = record.read()
    runs = [{"section": name, **one} for name, one in found.items()]
    trained = [one for one in runs if "steps" in one]
    return "\n".join(
        filter(
            None,
            (
                table("Sections", runs, ("section", "status", "seconds", "skipped", "error")),
                table("Runs", trained, ("section", "steps", "planned_steps", "train_s", "n_tokens", "tokens_per_s")),
                *(_validation(one) for one in trained),
                *(_held_out(one) for one in trained),
                table("Pieces", _pieces(trained), ("file", "bytes")),
            ),
        )
    )


def _validation(one: dict[str, Any]) -> str:
    rows = [{"figure": name, "value": value} for name, value in one.get("valid", {}).items()]
    return table(f"{one['section']}: validation", rows, ("figure", "value"))


def _held_out(one: dict[str, Any]) -> str:
    rows = [
        {"way": way, "kind": kind, **row}
        for way, kinds in one.get("held_out", {}).items()
        for kind, row in kinds.items()
    ]
    columns = ("way", "kind", "n", "exact", "similarity", "passes", "tokens_per_pass", "ms", "error")
    return table(f"{one['section']}: held-out cases", rows, columns)


def _pieces(trained: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"file": name, "bytes": size} for one in trained for name, size in one.get("pieces", {}).items()]
