"""The whole command with a real engine: a tiny adapted model of random weights, cases cut from a made-up package."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from engine.commands import run
from tests.conftest import PrivateFolders
from tests.denoisers import tiny
from tests.denoisers.test_absorbing import write_adapter

BODY = '"""Made up."""\n\n' + "".join(
    f"def grow_{i}(tree_{i}, leaf_{i}):\n    size_{i} = weigh(tree_{i}, leaf_{i} + {i})\n    return size_{i}\n\n\n"
    for i in range(30)
)


def test_rows_by_policy_with_and_without_copies_and_repairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], private_folders: PrivateFolders
) -> None:
    monkeypatch.setattr("engine.evaluation.packages.HELD_OUT", {"made-up": "1.0"})
    with zipfile.ZipFile(tmp_path / "made_up-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("made_up/a.py", BODY)
    base, snapshot = tmp_path / "base", tmp_path / "big" / "snapshots" / "step-000400"
    base.mkdir()
    snapshot.mkdir(parents=True)
    tiny.causal(base)
    write_adapter(snapshot, base)
    record = json.loads((snapshot / "midfill.json").read_text())
    training = {"step": 400, "seconds": 7200.0, "canvases": 6400}
    (snapshot / "midfill.json").write_text(json.dumps({**record, "training": training}))
    common = ["--path", str(tmp_path), "--out", str(tmp_path / "out"), "--n", "2", "--json"]

    def ask(*arguments: str) -> dict[tuple[str, str, str], dict[str, object]]:
        code = run(["eval", *arguments, *common])
        told = capsys.readouterr()
        assert code == 0, told.err
        return {(row["set"], row["kind"], row["who"]): row for row in json.loads(told.out)["rows"]}

    ask("held-out-suffix", "--model", str(base), "--no-copies")
    ask("held-out-suffix", "--model", str(snapshot), "--policy", "verified", "--no-copies")
    rows = ask("held-out-repair", "--model", str(snapshot), "--doubt", "0.5")
    who = {name for case_set, _, name in rows if case_set == "held-out-suffix"}
    assert who == {"base, no copies", "big step 400, verified, no copies", "empty", "copy from the buffer"}
    slips = {kind for case_set, kind, name in rows if name == "big step 400, doubt 0.5"}
    assert slips == {"no slip", "1 slip", "2 slips", "3 slips", "4 slips"}
    assert rows["held-out-repair", "no slip", "as it stands"]["exact"] == 1.0
    assert rows["held-out-repair", "1 slip", "as it stands"]["exact"] == 0.0

    picture = tmp_path / "training.svg"
    shown = ["--beside", "base, no copies", "--over-training", str(picture)]
    assert run(["eval", "--out", str(tmp_path / "out"), *shown]) == 0
    assert "big step" not in capsys.readouterr().out  # the picture was asked for
    assert "big, verified, no copies; held-out-suffix: line" in picture.read_text()
    assert run(["eval", "--out", str(tmp_path / "out"), *shown[:2]]) == 0
    (line,) = [
        line
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("| **big step 400, verified, no copies** | held-out-suffix: all | 6 |")
    ]
    assert line.endswith("| +0.0 (+0.0 to +0.0) | 100 |"), "verified is greedy"

    assert run(["eval", "held-out-suffix", *common, "--model", str(base), "--policy", "odd"]) == 1
    assert "policy" in capsys.readouterr().err


def test_an_engine_that_runs_is_taken_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "eval_cases.jsonl").write_text("")
    arguments = ["eval", "held-out", "--path", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run([*arguments, "--endpoint", "ipc:///nowhere/engine.sock", "--no-copies"]) == 2
    assert "runs as it was started; leave out --no-copies" in capsys.readouterr().err
