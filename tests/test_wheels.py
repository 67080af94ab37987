"""Wheels are found by name and version, and read without being trusted."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.wheels import PackageError, fetch_wheel, find_wheel, python_files, wheel_metadata


def write(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    return path


@pytest.mark.parametrize("asked", ["made-up", "made_up", "Made.Up"])
def test_names_are_compared_as_the_index_does(tmp_path: Path, asked: str) -> None:
    wheel = write(tmp_path / "Made_Up-1.0-py3-none-any.whl", {})
    write(tmp_path / "made_up-1.0.1-py3-none-any.whl", {})
    write(tmp_path / "made-1.0-py3-none-any.whl", {})
    (tmp_path / "made_up-2.0-py3-none-any.whl").write_bytes(b"no archive")
    assert find_wheel(asked, "1.0", [tmp_path / "nowhere", tmp_path]) == wheel
    assert find_wheel(asked, "1.0", [wheel]) == wheel
    assert find_wheel(asked, "1", [tmp_path]) is None
    assert find_wheel(asked, "2.0", [tmp_path]) is None


def test_what_is_there_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[str]] = []

    def pip(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        write(tmp_path / "cache" / "made_up-1.0-py3-none-any.whl", {})
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr("engine.wheels.subprocess.run", pip)
    cache = tmp_path / "cache"
    first = fetch_wheel("made-up", "1.0", cache, ("--python-version", "3.11"))
    assert fetch_wheel("made-up", "1.0", cache) == first
    assert len(asked) == 1 and "3.11" in asked[0] and asked[0][-1] == "made-up==1.0"
    with pytest.raises(PackageError, match=r"other 1\.0 can't be fetched: pip brought no wheel"):
        fetch_wheel("other", "1.0", cache)


def test_a_damaged_wheel_is_named(tmp_path: Path) -> None:
    wheel = write(tmp_path / "made_up-1.0-py3-none-any.whl", {"made_up/a.py": "x = 1\n" * 1000})
    data = bytearray(wheel.read_bytes())
    data[45:55] = b"\xff" * 10
    wheel.write_bytes(data)
    with pytest.raises(PackageError, match="remove it, and it is fetched again"):
        list(python_files(wheel))
    with pytest.raises(PackageError, match="has no METADATA"):
        wheel_metadata(write(tmp_path / "b-1.0-py3-none-any.whl", {"b/c.dist-info/METADATA": "Name: vendored\n"}))
