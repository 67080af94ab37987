"""How commands end: codes, one line on stderr, and nothing slow where nothing is to be done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from tests.conftest import PrivateFolders


@pytest.fixture(autouse=True)
def _folders(private_folders: PrivateFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDFILL_MODELS_DIR", str(tmp_path / "models"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fill", "a.py"], "is no place"),
        (["fill", "a.py:1:0"], "counted from 1"),
        (["fill", "nothing.py:1"], "nothing.py does not exist"),
        (["fill", ".:1"], "is a folder"),
        (["fill", "a.py:9"], "there is no line 9"),
        (["fill", "a.py:1:99"], "its columns are 1 to"),
        (["fill", "binary:1"], "NUL"),
        (["fill", "a.py:1", "--max-tokens", "0"], "--max-tokens"),
        (["fill", "a.py:1", "--max-tokens", 10**23], "--max-tokens"),
        (["fill", "a.py:1", "--deadline-ms", 10**23], "--deadline-ms"),
        (["fill", "a.py:1", "--alternatives", "100"], "--alternatives"),
        (["fill", "a.py:1", "--endpoint", "foo"], "--endpoint must be ipc:///absolute/path, not foo"),
        (["status", "--endpoint", "ipc://foo"], "--endpoint"),
        (["doctor", "--endpoint", "foo"], "--endpoint"),
        (["bench", "--threads", 10**23], "--threads"),
        (["engine", "--stop", "--endpoint", f"ipc:///{'x' * 200}"], "too long"),
        (["fill", "a.py:1", "--wrong"], "--wrong"),
        (["fill", "a.py:1", "--model", "nothing"], "neither a known name"),
        (["fill"], "Missing argument"),
        (["wrong"], "wrong"),
        (["model", "pull", "wrong"], "known are bundled"),
        (["model", "pull", "bundled"], "part of midfill"),
        (["model", "rm", "wrong"], "known are bundled"),
        (["engine", "--dtype", "int4"], "dtype"),
        (["engine", "--threads", "-1"], "threads"),
        (["engine", "--model", "nothing"], "neither a known name"),
        (["engine", "--endpoint", "tcp://0.0.0.0:1"], "tcp://0.0.0.0:1"),
    ],
)
def test_bad_input_is_one_line_and_code_2(midfill: Run, tmp_path: Path, arguments: list[object], told: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "binary").write_bytes(b"\0")
    ended = midfill(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("midfill: ")
    assert ended.stderr.count("\n") == 1
    assert told in ended.stderr


def test_a_wrong_setting_is_told_before_anything_is_started(
    midfill: Run, tmp_path: Path, private_folders: PrivateFolders
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    private_folders.config.write_text('[engine]\nmodle = "bundled"\n')
    ended = midfill("fill", "a.py:1")
    assert ended.returncode == 2
    assert "did you mean `model`?" in ended.stderr
    assert not private_folders.engines()


def test_as_many_alternatives_as_the_engine_takes() -> None:
    from engine.commands.fill import MOST_ALTERNATIVES
    from engine.denoisers.loading import _MAX_ALTERNATIVES

    assert MOST_ALTERNATIVES == _MAX_ALTERNATIVES


def test_failures_are_one_line_and_code_1(midfill: Run) -> None:
    ended = midfill("model", "rm", "qwen2.5-coder-0.5b")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "midfill: qwen2.5-coder-0.5b is not here\n"


def test_what_is_asked_of_no_engine_starts_none(midfill: Run, private_folders: PrivateFolders) -> None:
    assert "no engine runs" in midfill("status").stdout
    assert json.loads(midfill("status", "--json").stdout) == {"state": "stopped"}
    assert "no engine runs" in midfill("engine", "--stop").stdout
    assert not private_folders.engines()


def test_a_log_folder_that_can_not_be_is_one_line(
    midfill: Run, private_folders: PrivateFolders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MIDFILL_LOG_DIR", str(tmp_path / "file"))
    ended = midfill("engine")
    assert ended.returncode == 1
    assert str(tmp_path / "file") in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "internal error" not in ended.stderr
    assert not private_folders.engines()


def test_models_are_listed(midfill: Run) -> None:
    models = {row["name"]: row for row in json.loads(midfill("model", "list", "--json").stdout)}
    assert models["bundled"]["state"] == "bundled"
    assert models["bundled"]["auto"] is True
    assert models["qwen2.5-coder-0.5b"]["state"] == "not here"
    table = midfill("model", "list")
    assert (table.returncode, table.stderr) == (0, "")
    assert "bundled *" in table.stdout


def test_the_version_and_the_help(midfill: Run) -> None:
    assert midfill("--version").stdout.startswith("midfill 0.")
    for arguments in ([], ["--help"]):
        assert "fill" in midfill(*arguments).stdout
    assert "FILE:LINE" in midfill("fill", "--help").stdout


def test_help_imports_nothing_slow() -> None:
    program = "import sys, engine.commands as c; c.run(['--help']); print([m for m in sys.modules if '.' not in m])"
    told = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True).stdout
    for module in ("torch", "transformers", "zmq", "rich", "asyncio", "huggingface_hub"):
        assert f"'{module}'" not in told


def test_doctor_without_a_fill(midfill: Run, private_folders: PrivateFolders) -> None:
    ended = midfill("doctor", "--no-fill", "--json")
    report = json.loads(ended.stdout)
    assert (ended.returncode, report["ok"]) == (0, True)
    found = {one["what"]: one for one in report["findings"]}
    assert found["pulled models"]["advice"] == "run: midfill model pull qwen2.5-coder-0.5b"
    assert "mode 0700" in found["runtime folder"]["found"]
    assert found["model"]["state"] == "note"
    assert not private_folders.engines()


def test_doctor_names_what_is_broken_and_what_to_do(midfill: Run, private_folders: PrivateFolders) -> None:
    private_folders.config.write_text("[engine\n")
    ended = midfill("doctor", "--no-fill")
    assert ended.returncode == 1
    assert "broken" in ended.stdout
    assert "correct it there" in " ".join(ended.stdout.split())
