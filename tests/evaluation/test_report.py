"""Figures, tables, and their place in a page."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from engine.evaluation.cases import CaseSet, Kind
from engine.evaluation.figures import compute
from engine.evaluation.records import About, Record, RecordError, Store, claim, read_all, seed_of
from engine.evaluation.report import BEGIN, END, PageError, rows, tables, write_into

RECORD = Record(
    case_set=CaseSet.SINGLE_LINE,
    case_id="0",
    kind=Kind.SINGLE_LINE,
    text="x\n",
    exact=True,
    similarity=1.0,
    end="passed",
    cause="",
    max_lines=1,
    max_tokens=96,
    reason="converged",
    n_tokens=6,
    n_steps=3,
    n_forward_passes=3,
    total_ms=10.0,
)
FAILED = attrs.evolve(
    RECORD, case_id="1", exact=False, similarity=0.5, end="failed", reason="limit", n_tokens=2, n_steps=5,
    n_forward_passes=5, total_ms=30.0,
)  # fmt: skip


def test_figures_are_sums_over_the_group() -> None:
    figures = compute([RECORD, FAILED, attrs.evolve(FAILED, end="", total_ms=50.0)])
    assert (figures.n, figures.n_tested) == (3, 2)
    assert figures.exact == pytest.approx(1 / 3)
    assert figures.similarity == pytest.approx(2 / 3)
    assert figures.passed == 0.5
    assert 0 < figures.passed_low < 0.5 < figures.passed_high < 1
    assert figures.steps == pytest.approx(13 / 3)
    assert figures.tokens_per_forward == pytest.approx(10 / 13)
    assert figures.median_ms == 30
    assert figures.reasons == (("limit", 2 / 3), ("converged", 1 / 3))


def fill_folder(out: Path) -> None:
    claim(out, 7)
    for name, baseline, ids in [("big", False, "012"), ("small", False, "01"), ("empty", True, "012")]:
        store = Store(out, name)
        store.write_about(About(name=name, baseline=baseline, note="A note.", n_parameters=6_000_000))
        for case_id in ids:
            store.append(
                attrs.evolve(RECORD if case_id != "2" else FAILED, case_id=case_id, reason="" if baseline else "limit")
            )


def test_baselines_stand_beside_each_model_on_the_same_cases(tmp_path: Path) -> None:
    fill_folder(tmp_path)
    everyone = list(read_all(tmp_path))
    told = [(row.who, row.figures.n, round(row.figures.passed, 2)) for row in rows(everyone)]
    assert told == [("big", 3, 0.67), ("empty", 3, 0.67), ("small", 2, 1.0), ("empty", 2, 1.0)]
    text = tables(everyone, 7)
    assert "### humaneval-single-line" in text and "seed 7" in text and "**big**: 6 M parameters" in text
    assert "| **big** | 3 | 66.7 | 83.3 | 66.7 (21-94) | 3.7 | 1.27 | 10 | limit 100 % |" in text
    assert "| *empty* | 2 | 100.0 | 100.0 | 100.0 (34-100) | - | - | - | - |" in text
    assert rows(everyone)[0].as_json()["reasons"] == {"limit": 1.0}


def test_the_figures_go_between_the_marks_and_nothing_else_changes(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Head\n\n{BEGIN}\nold\n{END}\n\nTail\n")
    write_into(page, "new")
    assert page.read_text() == f"# Head\n\n{BEGIN}\n\nnew\n\n{END}\n\nTail\n"
    page.write_text("no marks")
    with pytest.raises(PageError, match="one is missing"):
        write_into(page, "new")
    with pytest.raises(PageError, match="missing"):
        write_into(tmp_path / "missing.md", "new")


def test_a_line_cut_short_by_an_interruption_is_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path, "a model/with: odd name")
    store.append(RECORD)
    (file,) = tmp_path.glob("*/*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    assert store.read(CaseSet.SINGLE_LINE) == {"0": RECORD}
    assert file.read_bytes() == whole
    store.append(FAILED)
    assert list(store.read(CaseSet.SINGLE_LINE)) == ["0", "1"]
    file.write_bytes(b"{}\n")
    with pytest.raises(RecordError, match=r"humaneval-single-line\.jsonl:1"):
        store.read(CaseSet.SINGLE_LINE)


def test_a_folder_keeps_to_one_seed(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no results yet"):
        seed_of(tmp_path)
    claim(tmp_path, 3)
    claim(tmp_path, 3)
    assert seed_of(tmp_path) == 3
    with pytest.raises(RecordError, match="seed 3"):
        claim(tmp_path, 4)
    (tmp_path / "sample.json").write_text("{}")
    with pytest.raises(RecordError, match="damaged"):
        claim(tmp_path, 3)


def test_the_projects_own_page_has_its_marks() -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    assert page.index(BEGIN) < page.index(END)
