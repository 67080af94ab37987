"""Held-out cases cut from made-up packages, as wheels and as installed ones."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.evaluation.cases import Kind
from engine.evaluation.packages import read_sources
from engine.evaluation.rebuild import Source, held_out_cases
from engine.wheels import PackageError

BODY = "\n".join(
    [
        '"""A text',
        "over several lines.",
        '"""',
        "",
        "# a comment that is long enough",
        *(f"def function_{i}(argument_{i}):\n    value = argument_{i} + {i}\n    return value\n" for i in range(60)),
    ]
)
SOURCES = [Source("made-up", "made_up/b.py", BODY), Source("made-up", "made_up/a.py", BODY.replace("value", "other"))]
WANTED = {"made-up": "1.0"}


def test_cuts_are_fixed_by_the_seed() -> None:
    cases = held_out_cases(SOURCES, 0)
    assert cases == held_out_cases(SOURCES[::-1], 0)
    assert cases != held_out_cases(SOURCES, 1)
    assert len({case.id for case in cases}) == len(cases)
    assert {case.kind for case in cases} == {Kind.REST_OF_LINE, Kind.LINE, Kind.BLOCK}


def test_cuts_are_what_their_kind_says() -> None:
    by_path = {source.path: source.text for source in SOURCES}
    for case in held_out_cases(SOURCES, 0):
        text = by_path[case.path]
        start = int(case.id.split(":")[1])
        assert text == text[: start - len(case.prefix)] + case.prefix + text[start:]
        assert text[start:].startswith(case.middle + case.suffix)
        assert case.suffix.startswith("\n") or case.suffix == ""
        assert "several" not in case.middle and "comment" not in case.middle
        before = case.prefix.rpartition("\n")[2]
        if case.kind is Kind.REST_OF_LINE:
            assert before.strip() and "\n" not in case.middle
        elif case.kind is Kind.LINE:
            assert not before.strip() and "\n" not in case.middle
        else:
            assert not before.strip() and 1 <= case.middle.count("\n") <= 3


def test_a_third_of_the_rest_of_line_cuts_falls_inside_words() -> None:
    cuts = [case for case in held_out_cases(SOURCES, 0) if case.kind is Kind.REST_OF_LINE]
    n_inside = sum((case.prefix[-1] + case.middle[0]).replace("_", "a").isalnum() for case in cuts)
    assert len(cuts) >= 60
    assert n_inside == pytest.approx(len(cuts) / 3, abs=1)


def test_a_wheel_is_read_as_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "made-up-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("made_up/a.py", BODY)
        wheel.writestr("made_up/tiny.py", "x = 1\n")
        wheel.writestr("made_up/latin.py", b"# \xe9\n" * 200)
        wheel.writestr("made_up/data.txt", BODY)
    assert read_sources([tmp_path], tmp_path / "cache", WANTED) == [Source("made-up", "made_up/a.py", BODY)]


def test_an_installed_copy_is_used_when_its_version_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made_up").mkdir()
    (tmp_path / "made_up" / "a.py").write_text(BODY)
    info = tmp_path / "made_up-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: made-up\nVersion: 1.0\n")
    (info / "RECORD").write_text("made_up/a.py,,\nmade_up/gone.py,,\n")
    assert read_sources([tmp_path], tmp_path / "cache", WANTED) == [Source("made-up", "made_up/a.py", BODY)]

    asked: list[Sequence[str]] = []

    def refuse(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no such version")

    monkeypatch.setattr("engine.wheels.subprocess.run", refuse)
    with pytest.raises(PackageError, match=r"made-up 2\.0 can't be fetched: ERROR: no such version"):
        read_sources([tmp_path], tmp_path / "cache", {"made-up": "2.0"})
    assert asked[0][0] == sys.executable and asked[0][-1] == "made-up==2.0" and "--no-deps" in asked[0]
