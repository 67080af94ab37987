"""The gate's part of the report: a table and a picture. Owns: their shape. Must not know: how records came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.chart import chart
from engine.evaluation.gate import chosen, crossed, curve, scored, shown
from engine.evaluation.records import About, Record

Everyone = Sequence[tuple[About, Mapping[CaseSet, Mapping[str, Record]]]]
"""Records by who made them, set and case."""

_SETS: Final = (CaseSet.HELD_OUT, CaseSet.REBUILT)
"""Where a gate is measured: the benchmark's problems are for comparing models, and nothing is tuned on them."""
_ALL: Final = "all"
_HEAD: Final = (
    "| who | cases | n | right, all shown % | gate | shown % | right of those % | right ones shown % |\n"
    "|---|---|---|---|---|---|---|---|"
)


def gate_table(everyone: Everyone) -> str:
    """What each model's gate lets through, by kind; empty where no record has a score."""
    lines = []
    for about, by_kind in _scored(everyone):
        for kind, records in by_kind.items():
            everything = shown(records, 0.0)
            at = shown(records, about.least_probability)
            found = f"{100 * at.n_right / everything.n_right:.0f}" if everything.n_right else "-"
            gate = f"{about.least_probability:.2f}" if about.least_probability else "open"
            lines.append(
                f"| **{about.label}** | {kind} | {at.n} | {100 * everything.n_right / at.n:.0f} | {gate}"
                f" | {100 * at.share:.0f} | {_right(at.n_shown, at.right)} | {found} |"
            )
        rule, unseen = chosen(by_kind[_ALL]), crossed(by_kind[_ALL])
        lines.append(
            f"| {about.label}, the rule on unseen halves | {_ALL} | {unseen.n} | | {_named(rule)}"
            f" | {100 * unseen.share:.0f} | {_right(unseen.n_shown, unseen.right)} | |"
        )
    return "\n".join(["### What is shown unasked", "", _HEAD, *lines]) if lines else ""


def gate_chart(everyone: Everyone) -> str:
    """The curves of all models with a gate, over all cases and by kind, as one SVG."""
    curves, gates = {}, {}
    for about, by_kind in _scored(everyone):
        if not about.least_probability:
            continue
        for kind, records in by_kind.items():
            name = f"{about.label}: {kind}"
            curves[name] = [at for _, at in curve(records)]
            gates[name] = shown(records, about.least_probability)
    return chart("Shown and right, by the gate", curves, gates)


def _scored(everyone: Everyone) -> list[tuple[About, dict[str, list[Record]]]]:
    found = []
    for about, by_set in everyone:
        records = scored([record for one in _SETS for record in by_set.get(one, {}).values()])
        if records:
            kinds = {str(kind): [record for record in records if record.kind is kind] for kind in Kind}
            found.append((about, {_ALL: records, **{kind: some for kind, some in kinds.items() if some}}))
    return found


def _named(least: float) -> str:
    return f"{least:.2f}" if least <= 1 else "shut"


def _right(n_shown: int, right: float) -> str:
    return f"{100 * right:.0f}" if n_shown else "-"
