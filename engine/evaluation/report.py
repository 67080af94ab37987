"""The report: tables in Markdown, figures as JSON. Owns: its shape, and the place in a page where it goes.

Must not know: how records came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import asdict, frozen

from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.figures import Figures, compute
from engine.evaluation.gate_report import Everyone, gate_table
from engine.evaluation.policy import POLICIES
from engine.evaluation.records import Record

BEGIN: Final = "<!-- figures: written by `midfill eval --report`; changes by hand are lost -->"
END: Final = "<!-- end of figures -->"
_HEAD: Final = (
    "| who | n | exact match % | edit similarity % | pass@1 % (95 % interval) | steps | tokens per forward "
    "| median ms | stopped by |\n|---|---|---|---|---|---|---|---|---|"
)


@frozen
class Row:
    """Figures of one model or baseline on one sample."""

    case_set: CaseSet
    kind: Kind
    who: str
    baseline: bool
    figures: Figures

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        figures = asdict(self.figures)
        figures["reasons"] = dict(self.figures.reasons)
        return {"set": self.case_set, "kind": self.kind, "who": self.who, "baseline": self.baseline, **figures}


class PageError(ValueError):
    """The page has no place for the figures."""


def rows(everyone: Everyone) -> list[Row]:
    """One row for each model on each sample, and the baselines beside it on the very same cases."""
    made: list[Row] = []
    for case_set in CaseSet:
        for kind in Kind:
            made += _rows_of(everyone, case_set, kind)
    return made


def tables(everyone: Everyone, seed: int) -> str:
    """The report in Markdown."""
    parts = [_about(everyone, seed)]
    for case_set in CaseSet:
        for kind in Kind:
            of_kind = _rows_of(everyone, case_set, kind)
            if of_kind:
                title = str(case_set) if of_kind[0].figures.n_tested else f"{case_set}: {kind}"
                policy = f"Length policy: {POLICIES[kind].told}."
                parts.append("\n".join([f"### {title}\n\n{policy}\n\n{_HEAD}", *map(_line, of_kind)]))
    if gate := gate_table(everyone):
        parts.append(gate)
    return "\n\n".join(parts)


def write_into(page: Path, text: str) -> None:
    """Replace what stands between the two marks of `page`. Raises `PageError`."""
    try:
        old = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{page}: {error}") from None
    head, begin, rest = old.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise PageError(f"{page}: the lines {BEGIN!r} and {END!r} mark where the figures go; one is missing")
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{tail}", encoding="utf-8")


def _rows_of(everyone: Everyone, case_set: CaseSet, kind: Kind) -> list[Row]:
    def records(by_set: Mapping[CaseSet, Mapping[str, Record]]) -> dict[str, Record]:
        return {key: record for key, record in by_set.get(case_set, {}).items() if record.kind is kind}

    models = [(about, records(by_set)) for about, by_set in everyone if not about.baseline]
    baselines = [(about, records(by_set)) for about, by_set in everyone if about.baseline]
    made: list[Row] = []
    samples = {frozenset(held) for _, held in models if held}
    for keys in sorted(samples, key=lambda one: (-len(one), sorted(one))):
        for about, held in models:
            if frozenset(held) == keys:
                made.append(Row(case_set, kind, about.label, False, compute(list(held.values()))))
        for about, held in baselines:
            if keys <= held.keys():
                made.append(Row(case_set, kind, about.label, True, compute([held[key] for key in sorted(keys)])))
    return made


def _about(everyone: Everyone, seed: int) -> str:
    lines = []
    for about, _ in everyone:
        if not about.baseline:
            size = f"{about.n_parameters / 1e6:.0f} M parameters"
            if about.training is not None:
                size += f", trained for {about.training.seconds / 3600:.1f} h"
            lines.append(
                f"- **{about.label}**: {size}, {about.dtype} on {about.device}, Midfill {about.engine_version}"
                f"{f', {about.machine}' if about.machine else ''}. {about.note}"
            )
    boxes = sorted({about.sandbox for about, _ in everyone if about.sandbox})
    lines += [f"- Sample: seed {seed}, the same cases for every row with the same n in a table."]
    lines += [f"- Sandbox of pass@1: {box}." for box in boxes]
    return "\n".join(lines)


def _line(row: Row) -> str:
    figures = row.figures
    passed = "-"
    if figures.n_tested:
        low, high = 100 * figures.passed_low, 100 * figures.passed_high
        passed = f"{100 * figures.passed:.1f} ({low:.0f}-{high:.0f})"
    if row.baseline:
        cost = "- | - | - | -"
    else:
        reasons = ", ".join(f"{reason} {100 * share:.0f} %" for reason, share in figures.reasons)
        cost = f"{figures.steps:.1f} | {figures.tokens_per_forward:.2f} | {figures.median_ms:.0f} | {reasons}"
    who = f"*{row.who}*" if row.baseline else f"**{row.who}**"
    return f"| {who} | {figures.n} | {100 * figures.exact:.1f} | {100 * figures.similarity:.1f} | {passed} | {cost} |"
