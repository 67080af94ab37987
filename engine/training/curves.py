"""A run's curves as a picture. Owns: which figures share a panel, their units, how they are smoothed.

Must not know: objectives. A group of figures that is not known here gets a panel of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import field, frozen
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from engine.training.journal import LOSS, RIGHT, grouped, is_step

_MOST_POINTS: Final = 160
"""Of one curve; more steps are averaged."""
_FEW: Final = 8
"""Points that are marked."""
_TREND: Final = 24
"""The trend at a point looks this share of the curve back and ahead."""
_COLUMNS: Final = 2
_PANEL: Final = (5.4, 3.1)
"""Inches."""
_COLOURS: Final = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#a6761d", "#666666")
_TOTAL: Final = "what is minimised"
_TITLES: Final = {
    LOSS: "loss, nats per cell",
    RIGHT: "cells that are right",
    "agreed": "drafted tokens in a row that the base agrees with",
    "agreed_share": "the same, as a share of the base's own text",
}


@frozen
class _Panel:
    title: str
    curves: dict[str, list[tuple[float, float]]] = field(factory=dict)
    """Training: values by step, by name."""
    valid: dict[str, list[tuple[float, float]]] = field(factory=dict)
    """Validation, likewise."""
    jumps: bool = True
    """Whether a step's value is that of a few cells: then the trend is drawn over it."""


def draw(entries: Iterable[Mapping[str, Any]], path: Path, title: str) -> None:
    """Draw a journal's entries as a PNG at `path`. An empty journal gives empty axes."""
    kept = list(entries)
    steps = [entry for entry in kept if is_step(entry)]
    panels = [*_figure_panels(kept), _rate(steps), _throughput(steps)]
    n_rows = math.ceil(len(panels) / _COLUMNS)
    figure = Figure(figsize=(_PANEL[0] * _COLUMNS, _PANEL[1] * n_rows + 0.5), dpi=110, layout="constrained")
    figure.suptitle(f"{title}: {_told(steps)}" if steps else title, fontsize=11)
    grid = figure.subplots(n_rows, _COLUMNS, squeeze=False)
    axes: list[Axes] = list(grid.flat)
    colours = _colours(panels)
    for one, panel in zip(axes, panels, strict=False):
        _draw_panel(one, panel, colours)
    for one in axes[len(panels) :]:
        one.set_axis_off()
    fresh = path.with_name(path.name + ".new")
    figure.savefig(fresh, format="png")  # a figure without pyplot draws with Agg: no display is needed
    fresh.replace(path)


def _figure_panels(entries: Sequence[Mapping[str, Any]]) -> list[_Panel]:
    panels: dict[str, _Panel] = {name: _Panel(_TITLES[name]) for name in (LOSS, RIGHT)}
    for entry in entries:
        validation = entry.get("valid")
        for group, kinds in grouped(entry if validation is None else validation).items():
            panel = panels.setdefault(group, _Panel(_TITLES.get(group, group.replace("_", " "))))
            curves = panel.curves if validation is None else panel.valid
            for kind, value in kinds.items():
                curves.setdefault(kind, []).append((entry["step"], value))
    losses = panels[LOSS].curves
    if len(losses) != 1:  # else the total is that one
        losses[_TOTAL] = [(entry["step"], entry["loss"]) for entry in entries if is_step(entry)]
    return [panel for name, panel in panels.items() if name == LOSS or panel.curves or panel.valid]


def _rate(steps: Sequence[Mapping[str, Any]]) -> _Panel:
    return _Panel("learning rate", {"learning rate": [(entry["step"], entry["lr"]) for entry in steps]}, jumps=False)


def _throughput(steps: Sequence[Mapping[str, Any]]) -> _Panel:
    points = []
    for some in _groups(steps):
        first, last = some[0], some[-1]
        took = last["seconds"] - first["seconds"]
        if took > 0:
            points.append((last["step"], (last["n_tokens"] - first["n_tokens"]) / took))
    return _Panel("tokens and cells per second", {"throughput": points}, jumps=False)


def _groups(steps: Sequence[Mapping[str, Any]]) -> Iterable[Sequence[Mapping[str, Any]]]:
    """Neighbours, each group with the last of the one before: differences need two."""
    size = max(2, math.ceil(len(steps) / _MOST_POINTS))
    return (steps[max(0, start - 1) : start + size] for start in range(0, len(steps), size))


def _draw_panel(axes: Axes, panel: _Panel, colours: Mapping[str, str]) -> None:
    axes.set_title(panel.title, fontsize=10, loc="left")
    axes.set_xlabel("step", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    for kind, points in panel.curves.items():
        x, y = _fewer(points)
        if panel.jumps and len(x) >= _FEW:
            axes.plot(x, y, color=colours[kind], linewidth=0.8, alpha=0.2)
            y = _trend(y)
        axes.plot(x, y, color=colours[kind], linewidth=1.5, label=kind, marker="." if len(x) < _FEW else "")
    for kind, points in panel.valid.items():
        x, y = _finite(points)
        alone = None if kind in panel.curves else kind
        axes.plot(x, y, "o", color=colours[kind], markersize=4, markerfacecolor="white", label=alone)
    if panel.valid:
        axes.plot([], [], "o", color="black", markersize=4, markerfacecolor="white", label="validation")
    if panel.title == _TITLES[RIGHT]:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    else:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    if panel.title != _TITLES[LOSS]:
        axes.set_ylim(0, 1.08 * max(axes.get_ylim()[1], 1e-9))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if len(panel.curves) > 1 or panel.valid:
        axes.legend(fontsize=8, frameon=False)


def _colours(panels: Sequence[_Panel]) -> dict[str, str]:
    """A kind of canvas has one colour in all panels."""
    kinds = list(dict.fromkeys(kind for panel in panels for kind in (*panel.curves, *panel.valid)))
    return {kind: _COLOURS[index % len(_COLOURS)] for index, kind in enumerate(kinds)} | {_TOTAL: "black"}


def _finite(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    kept = [(x, y) for x, y in points if math.isfinite(y)]
    return [x for x, _ in kept], [y for _, y in kept]


def _fewer(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Means of neighbours, so that at most `_MOST_POINTS` are left."""
    x, y = _finite(points)
    n = min(len(x), _MOST_POINTS)
    if n == 0:
        return [], []
    return (
        [float(some.mean()) for some in np.array_split(np.array(x, dtype=float), n)],
        [float(some.mean()) for some in np.array_split(np.array(y, dtype=float), n)],
    )


def _trend(values: Sequence[float]) -> list[float]:
    """Each value as the mean of those around it."""
    reach = max(1, len(values) // _TREND)
    return [float(np.mean(values[max(0, at - reach) : at + reach + 1])) for at in range(len(values))]


def _told(steps: Sequence[Mapping[str, Any]]) -> str:
    last = steps[-1]
    minutes, n_tokens = last["seconds"] / 60, last["n_tokens"]
    took = f"{minutes / 60:.1f} h" if minutes >= 60 else f"{minutes:.1f} min"
    return f"{last['step'] + 1} steps, {took}, {n_tokens / 1e6:.2f} million tokens and cells"
