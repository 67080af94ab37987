"""Slips, cases with slips, and how the mending of them is run and judged."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.denoisers.denoiser import Counts, Denoiser, DenoiserError, Progress
from engine.evaluation import baselines
from engine.evaluation.cases import Case, CaseSet, Kind
from engine.evaluation.fillers import BaselineFiller
from engine.evaluation.rebuild import Source
from engine.evaluation.records import About, Store, claim, read_all
from engine.evaluation.repair_cases import repair_cases
from engine.evaluation.report import rows
from engine.evaluation.revision import RevisionFiller
from engine.evaluation.runner import run_cases
from engine.evaluation.slips import n_words, slipped
from engine.protocol import Candidate, Family, Fill, Limits, Model, Reason

LINE = "total = weigh(leaf, depth + 1)  # half of it"
NAMES = ["total", "leaf", "tree", "weigh"]
MODEL = Model("scripted", Family.ABSORBING, "cpu", "float32", 1, "For tests.")


@given(st.text(), st.integers(0, 4), st.lists(st.text(min_size=1)), st.integers())
def test_any_line_is_left_alone_or_changed(line: str, n: int, names: list[str], seed: int) -> None:
    made = slipped(line, n, names, random.Random(seed))
    assert made == slipped(line, n, names, random.Random(seed))
    if n == 0:
        assert made == line
    elif made is not None:
        assert made != line and made.strip()
    if n_words(line) < 2 * n:
        assert made is None


def test_all_kinds_of_slips_come_up() -> None:
    made = {slipped("tree = leafs[3]", 1, ["leafs", "bark"], random.Random(i)) for i in range(400)}
    assert {
        "bark = leafs[3]",  # another name of the file
        "Tree = leafs[3]",
        "trees = leafs[3]",
        "tree = leaf[3]",
        " = leafs[3]",
        "tree = leafs[3",
        "tree = leafs[[3]",
        "tree = leafs leafs[3]",
        "= tree leafs[3]",  # swapped with the next
        "tree = leafs3[]",
    } <= made
    assert None not in made


def test_the_same_lines_for_every_number_of_slips() -> None:
    text = '"""Made up."""\n' + "".join(f"leaf_{i} = weigh(tree_{i}, {i} + 1)\nx = {i}\n" for i in range(30))
    sources = [Source("made-up", "a.py", text)]
    cases = repair_cases(sources, 0)
    assert cases == repair_cases(sources, 0) and cases != repair_cases(sources, 1)
    by_kind = {kind: [case for case in cases if case.kind is kind] for kind in {case.kind for case in cases}}
    assert len(by_kind) == 5 and len({case.id for case in cases}) == len(cases)
    assert len({tuple(case.middle for case in some) for some in by_kind.values()}) == 1
    for case in cases:
        assert (case.draft == case.middle) == (case.kind is Kind.NO_SLIP)
        assert text.endswith(case.prefix + case.middle + case.suffix)


class Mender:
    """A denoiser that mends by a function."""

    model = MODEL
    limits = Limits(1 << 20, 32, 1, 1)

    def __init__(self, mend: Callable[[str], str | None]) -> None:
        self._mend = mend
        self.asked: list[tuple[Fill, str, float]] = []
        self.n_closed = 0

    def open_revision(self, fill: Fill, old: str, doubt: float) -> Mending:
        self.asked.append((fill, old, doubt))
        return Mending(self, self._mend(old))


class Mending:
    """Two passes, then the text."""

    def __init__(self, mender: Mender, text: str | None) -> None:
        self._mender, self._text = mender, text
        self.counts = Counts()

    def advance(self) -> Progress:
        n = self.counts.n_steps + 1
        self.counts = attrs.evolve(self.counts, n_steps=n, n_forward_passes=n)
        return Progress(reason=Reason.CONVERGED if n == 2 else None)

    def candidates(self) -> tuple[Candidate, ...]:
        return () if self._text is None else (Candidate(self._text, -0.5, 7, 2, True),)

    def close(self) -> None:
        self._mender.n_closed += 1


def case(kind: Kind, draft: str) -> Case:
    return Case(f"made-up:{kind}", kind, "    ", LINE, "\n", path="a.py", draft=draft)


CASES = [case(Kind.NO_SLIP, LINE), case(Kind.ONE_SLIP, LINE.replace("leaf", "laef"))]


def filler(mender: Any) -> RevisionFiller:
    return RevisionFiller(cast(Denoiser, mender), 0.25, clock=iter(range(100)).__next__)


async def test_a_repair_starts_from_what_stands_there_and_is_reported_by_slips(tmp_path: Path) -> None:
    mender = Mender(lambda old: LINE if "laef" in old else None)  # no answer: it stays as it is
    claim(tmp_path, 0)
    for who, one, about in [
        ("scripted", filler(mender), About("scripted", False, variant="doubt 0.25")),
        ("as it stands", BaselineFiller("as it stands", baselines.as_it_stands), About("as it stands", True)),
    ]:
        store = Store(tmp_path, about.label)
        store.write_about(about)
        assert await run_cases(CaseSet.REPAIR, CASES, cast(Any, one), store, lambda record, fresh: None), who
    fill, old, doubt = mender.asked[1]
    assert (fill.prefix, fill.suffix, fill.max_lines, fill.max_tokens) == ("    ", "\n", 1, 32)
    assert (old, doubt, mender.n_closed) == (CASES[1].draft, 0.25, 2)
    told = {(row.who, row.kind): row.figures for row in rows(list(read_all(tmp_path)))}
    mended, bare = told["scripted, doubt 0.25", Kind.ONE_SLIP], told["as it stands", Kind.ONE_SLIP]
    assert (mended.exact, bare.exact) == (1.0, 0.0)
    assert (mended.steps, mended.tokens_per_forward, mended.median_ms) == (2, 3.5, 1000)
    assert told["scripted, doubt 0.25", Kind.NO_SLIP].exact == told["as it stands", Kind.NO_SLIP].exact == 1.0


def test_a_model_that_only_fills_says_so() -> None:
    class Bare:
        model = MODEL

    with pytest.raises(DenoiserError, match="scripted fills holes, but mends nothing"):
        filler(Bare())
