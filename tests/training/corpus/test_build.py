"""A corpus built from made-up wheels: the same each time, and nothing in it that must stay unseen."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.held_out import HELD_OUT, RESERVED
from engine.training.corpus import CorpusError, Dropped, Progress, build_corpus, read_corpus, read_manifest
from engine.training.corpus.packages import PACKAGES
from engine.wheels import PackageError

from .conftest import WheelMaker
from .made_up import program


def versions(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "1.0")


def paths(folder: Path) -> list[str]:
    return [source.path for source in read_corpus(folder)]


def test_the_same_packages_make_the_same_corpus(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    make_wheel("beta", {"b.py": program("blue"), "a.py": program("red"), "notes.txt": "red"})
    make_wheel("alpha", {"c.py": program("green").replace("\n", "\r\n"), "short.py": "x = 1\n"}, "BSD-3-Clause")
    steps: list[Progress] = []
    wanted = versions("beta", "alpha")
    built = build_corpus(tmp_path / "one", cache, packages=wanted, held_out={}, tell=steps.append)
    again = build_corpus(tmp_path / "two", cache, packages=wanted, held_out={})

    assert built == again == read_manifest(tmp_path / "one")
    for name in ("manifest.json", "texts.jsonl.gz"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    texts = list(read_corpus(tmp_path / "one"))
    assert [(one.package, one.path) for one in texts] == [
        ("beta", "beta/a.py"),
        ("beta", "beta/b.py"),
        ("alpha", "alpha/c.py"),
    ]
    assert texts[2].text == program("green")
    assert [(one.licence, one.n_files) for one in built.packages] == [("MIT", 2), ("BSD-3-Clause", 1)]
    assert built.packages[1].dropped == {Dropped.SIZE: 1}
    assert (built.n_files, built.n_bytes) == (3, sum(len(one.text.encode()) for one in texts))
    assert built.humaneval_sha256 is None
    assert [(one.package, one.n_done, one.n_files) for one in steps] == [("beta", 0, 0), ("alpha", 1, 2), ("", 2, 3)]
    assert {one.n_packages for one in steps} == {2}


def test_another_text_makes_another_hash(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    make_wheel("alpha", {"a.py": program("red")})
    one = build_corpus(tmp_path / "out", cache, packages=versions("alpha"), held_out={})
    make_wheel("alpha", {"a.py": program("red") + "\n"})
    two = build_corpus(tmp_path / "out", cache, packages=versions("alpha"), held_out={})
    assert one.sha256 != two.sha256 and one.packages[0].wheel_sha256 != two.packages[0].wheel_sha256
    assert read_manifest(tmp_path / "out") == two


def test_held_out_packages_stay_out_by_name(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(CorpusError, match="my-secret: held out"):
        build_corpus(tmp_path, cache, packages=versions("My_Secret"), held_out=versions("my-secret"))
    assert not {name.lower() for name in PACKAGES} & set(HELD_OUT | RESERVED)
    assert not set(HELD_OUT) & set(RESERVED)


def test_held_out_contents_stay_out_wherever_they_lie(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    secret = program("secret", 20)
    tiny = "x = 1  # too short to have longer lines\n" * 10
    make_wheel("secret", {"s.py": secret, "t.py": tiny})
    lines = secret.splitlines(keepends=True)
    a_third = "".join(lines[:24])  # 16 of 56 longer lines are known
    make_wheel(
        "alpha",
        {
            "same.py": secret.replace("\n", "\r\n"),
            "tiny.py": tiny,
            "pasted.py": a_third + program("own", 6),
            "indented.py": "class Own:\n" + "".join(f"    {line}" for line in lines[:24]),
            "quoting.py": "".join(lines[:6]) + program("other", 20),
        },
    )
    built = build_corpus(tmp_path, cache, packages=versions("alpha"), held_out=versions("secret"))
    assert paths(tmp_path) == ["alpha/quoting.py"]
    assert built.dropped == {Dropped.HELD_OUT: 4}
    assert [(one.name, one.version, len(one.wheel_sha256)) for one in built.held_out] == [("secret", "1.0", 64)]


def problem(name: str, docstring: str) -> Mapping[str, Any]:
    start = f'from typing import List\n\n\ndef {name}(xs: List[int]) -> int:\n    """ {docstring}\n    """\n'
    return {"entry_point": name, "prompt": start, "canonical_solution": "    return 1\n", "suffix": "\n"}


def test_humaneval_stays_out(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    folder = tmp_path / "humaneval"
    folder.mkdir()
    rows = [problem("add_odd", "Add all odd numbers of the list."), problem("unsaid", "")]
    packed = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    (folder / "HumanEval-SingleLineInfilling.jsonl.gz").write_bytes(packed)
    copied, unsaid = (f"{row['prompt']}    return sum(xs)\n\n\n" for row in rows)
    make_wheel(
        "alpha",
        {
            "copied.py": program("blue") + copied,
            "unsaid.py": program("red") + unsaid,
            "same_name.py": program("green") + copied.replace("Add all odd numbers of the list.", "Something else."),
        },
    )
    built = build_corpus(tmp_path / "out", cache, packages=versions("alpha"), held_out={}, humaneval=folder)
    assert paths(tmp_path / "out") == ["alpha/same_name.py"]
    assert built.dropped == {Dropped.BENCHMARK: 2}
    assert built.humaneval_sha256 is not None

    for content, told in ((b"text", "is no file of HumanEval"), (None, "holds no .jsonl.gz file")):
        for file in folder.iterdir():
            file.unlink()
        if content:
            (folder / "a.jsonl.gz").write_bytes(content)
        with pytest.raises(CorpusError, match=told):
            build_corpus(tmp_path / "out", cache, packages=versions("alpha"), held_out={}, humaneval=folder)
    assert paths(tmp_path / "out") == ["alpha/same_name.py"]


def test_what_was_said_before_is_left_out(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    text = program("red", 20)
    make_wheel("alpha", {"a.py": text})
    changed = text.replace("red_function_1(", "another_function_with_a_long_name(")
    make_wheel("beta", {"copy.py": text, "nearly.py": changed, "half.py": program("red", 8) + program("blue", 8)})
    built = build_corpus(tmp_path, cache, packages=versions("alpha", "beta"), held_out={})
    assert paths(tmp_path) == ["alpha/a.py", "beta/half.py"]
    assert built.packages[1].dropped == {Dropped.COPY: 1, Dropped.NEAR_COPY: 1}


def test_a_package_has_its_share_and_tests_come_last(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    code = {f"{word}.py": program(word) for word in ("red", "blue", "green")}
    make_wheel("alpha", {"tests/test_a.py": program("yellow"), "test_b.py": program("black"), **code})
    most = sum(len(text) for text in code.values()) + 10
    built = build_corpus(tmp_path, cache, packages=versions("alpha"), held_out={}, most=most)
    assert paths(tmp_path) == ["alpha/blue.py", "alpha/green.py", "alpha/red.py"]
    assert built.dropped == {Dropped.FULL: 2}


def test_other_licences_stay_out(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    make_wheel("alpha", {"a.py": program("red")}, "GPL-3.0-or-later")
    make_wheel("beta", {"a.py": program("blue"), "b.py": "# SPDX-License-Identifier: GPL-2.0\n" + program("green")})
    built = build_corpus(tmp_path, cache, packages=versions("alpha", "beta"), held_out={})
    assert paths(tmp_path) == ["beta/a.py"]
    assert [(one.licence, one.dropped) for one in built.packages] == [
        ("GPL-3.0-or-later", {Dropped.LICENCE: 1}),
        ("MIT", {Dropped.LICENCE: 1}),
    ]


def test_a_build_that_fails_leaves_the_corpus_before_it(
    tmp_path: Path, cache: Path, make_wheel: WheelMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel("alpha", {"a.py": program("red")})
    folder = tmp_path / "out"
    built = build_corpus(folder, cache, packages=versions("alpha"), held_out={})

    def refuse(package: str, *_: object) -> Path:
        raise PackageError(f"{package} can't be fetched")

    monkeypatch.setattr("engine.training.corpus.build.fetch_wheel", refuse)
    with pytest.raises(PackageError, match="beta can't be fetched"):
        build_corpus(folder, cache, packages=versions("beta"), held_out={})
    assert read_manifest(folder) == built and paths(folder) == ["alpha/a.py"]
    assert sorted(file.name for file in folder.iterdir()) == ["manifest.json", "texts.jsonl.gz"]
