"""`midfill fill --apply` with the real engine and the bundled weights, over files that break editors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from tests.conftest import PrivateFolders

_TABS = b"class A:\n\tdef f(self):\n\t\treturn \n"
_FILES = {
    "crlf": (b"def f(a):\r\n    return \r\n", ":2", len(b"def f(a):\r\n    return ")),
    "lone cr": (b"a = 1\rb = \r", ":2", len(b"a = 1\rb = ")),
    "mixed line ends": (b"a = 1\r\nb = 2\nc = \rd\n", ":3", len(b"a = 1\r\nb = 2\nc = ")),
    "tabs": (_TABS, ":3:10", len(_TABS) - 1),
    "byte order mark": (b"\xef\xbb\xbfx = \n", ":1:1", 3),
    "no final newline": (b"def f():\n    return ", ":2", len(b"def f():\n    return ")),
    "emoji before the cursor": ('s = "🧵🧵" + \n'.encode(), ":1:12", len('s = "🧵🧵" + '.encode())),
    "inside a word": (b"import osys\n", ":1:10", 9),
    "empty": (b"", ":1:1", 0),
    "only a newline": (b"\n", ":2:1", 1),
    "at the start": (b"x = 1\n", ":1:1", 0),
    "invalid UTF-8": (b"# M\xfcller \xff\xfe\nx = \n", ":2", len(b"# M\xfcller \xff\xfe\nx = ")),
    "invalid UTF-8 before the cursor": (b"# M\xfcl", ":1:5", 4),
    "5 MB on one line": (b"x = 1; " * 750_000, ":1:3000000", 2_999_999),
    "control characters": (b"x = '\x1b[2J\x07'\ny = \n", ":2", len(b"x = '\x1b[2J\x07'\ny = ")),
}


@pytest.fixture
def engine(private_folders: PrivateFolders, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread: the tests share the machine."""
    monkeypatch.setenv("MIDFILL_THREADS", "1")
    monkeypatch.setenv("MIDFILL_MAX_STEPS", "6")
    yield


def test_every_other_byte_of_every_file_stays(engine: None, midfill: Run, tmp_path: Path) -> None:
    """In one test, so that one engine serves them all."""
    n_applied = 0
    for name, (data, place, at) in _FILES.items():
        path = tmp_path / f"{name}.py"
        path.write_bytes(data)
        ended = midfill("fill", f"{path}{place}", "--apply", "--json", "--max-tokens", 16, "--deadline-ms", 20_000)
        assert (ended.returncode, ended.stderr) == (0, ""), name
        told = json.loads(ended.stdout)
        text = told["text"].encode()
        assert (told["byte_offset"], told["applied"], told["model"]) == (at, bool(text), "bundled"), name
        assert path.read_bytes() == data[:at] + text + data[at:], name
        n_applied += told["applied"]
        if name in ("crlf", "lone cr"):
            assert b"\n" not in text.replace(b"\r\n", b""), name
    assert n_applied >= len(_FILES) // 2
    status = json.loads(midfill("status", "--json").stdout)
    assert (status["state"], status["n_fills"], status["n_failures"]) == ("ready", len(_FILES), 0)

    first, second = (midfill("fill", f"{tmp_path / 'tabs.py'}:3", "--json", "--seed", 5) for _ in range(2))
    assert json.loads(first.stdout)["text"] == json.loads(second.stdout)["text"]

    again = midfill("engine")
    assert (again.returncode, again.stderr) == (0, "")
    assert f"pid {status['pid']}" in again.stdout

    doctor = midfill("doctor", "--json")
    found = {one["what"]: one for one in json.loads(doctor.stdout)["findings"]}
    assert doctor.returncode == 0
    assert f"process {status['pid']}" in found["engine"]["found"]
    assert "denoise" in found["self-test fill"]["found"]

    assert "has stopped" in midfill("engine", "--stop").stdout
    assert "no engine runs" in midfill("status").stdout


def test_a_users_own_engine_folder_is_never_imported(engine: None, midfill: Run, tmp_path: Path) -> None:
    hostile = tmp_path / "engine"
    hostile.mkdir()
    (hostile / "__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "a.py").write_text("x = ")
    ended = midfill("fill", "a.py:1", "--max-tokens", 4, "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert not (tmp_path / "ran").exists()
