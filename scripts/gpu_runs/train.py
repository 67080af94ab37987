"""`scripts/gpu_train`: which sections it has, and its table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.models.resolve import Kind, ModelNotFoundError, resolve
from gpu_runs import environment, train_adapt
from gpu_runs.data import Data
from gpu_runs.record import Record
from gpu_runs.sections import Section, told
from gpu_runs.start import conduct, device_of
from gpu_runs.tables import table
from gpu_runs.train_tiny import train_tiny

_SIZES: Final = ("large", "bundled")
"""Of the tiny model."""


def train(script: Path, arguments: Sequence[str], given: argparse.Namespace) -> int:
    """Run it; 0 when all went well."""
    data, device = Data(given.data), device_of(given.device)
    if missing := data.missing():
        told(f"{given.data} lacks {', '.join(missing)}; make it with: scripts/gpu_train pack")
        return 2
    sections = [
        Section(environment.SECTION, partial(environment.environment, device=device, tiny=given.tiny), share=0.1),
        Section(train_adapt.SECTION, partial(_adapt, data=data, given=given, device=device), share=0.4),
        *(
            Section(
                f"tiny-{size}",
                partial(
                    train_tiny,
                    section=f"tiny-{size}",
                    size="micro" if given.tiny else size,
                    data=data,
                    out=given.out,
                    device=device,
                    micro=given.tiny,
                    compiled=given.compile,
                ),
                share=0.25,
            )
            for size in _SIZES
        ),
    ]
    return conduct(script, given, arguments, sections, Record(given.out / "gpu_train.json"), shown)


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


def _adapt(record: Record, clock: Any, data: Data, given: argparse.Namespace, device: str) -> None:
    try:
        found = resolve(given.base)
    except ModelNotFoundError as error:
        record.put(train_adapt.SECTION, skipped=f"no base: {error}")
        told(f"{train_adapt.SECTION}: no base: {error}")
        return
    name = str(found.path) if found.kind is Kind.PATH else found.name
    run: Callable[..., None] = train_adapt.train_adapt
    run(record, clock, found.path, name, data, given.out, device, given.tiny)


def _validation(one: dict[str, Any]) -> str:
    rows = [{"figure": name, "value": value} for name, value in one.get("valid", {}).items()]
    return table(f"{one['section']}: validation", rows, ("figure", "value"))


def _held_out(one: dict[str, Any]) -> str:
    rows = [{"kind": kind, **row} for kind, row in one.get("held_out", {}).items()]
    columns = ("kind", "n", "exact", "similarity", "passes", "tokens_per_pass", "ms")
    return table(f"{one['section']}: held-out cases", rows, columns)


def _pieces(trained: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"file": name, "bytes": size} for one in trained for name, size in one.get("pieces", {}).items()]
