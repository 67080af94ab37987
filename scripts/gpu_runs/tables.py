"""Rows of findings as plain text. Owns: columns and their widths. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(title: str, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Rows under their columns' names; what a row lacks is a dash."""
    cells = [list(columns), *([_told(row.get(name)) for name in columns] for row in rows)]
    if len(cells) == 1:
        return ""
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([title, *(f"  {line}" for line in lines), ""])


def _told(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value)
