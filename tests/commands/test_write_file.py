"""Replacing a file: all or nothing, and nothing when somebody else wrote."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from engine.commands.errors import CommandError
from engine.commands.write_file import FileChangedError, replace_file


def test_the_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_bytes(b"old")
    path.chmod(0o754)
    replace_file(path, b"old", b"new\r\n\xff")
    assert path.read_bytes() == b"new\r\n\xff"
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert [one.name for one in tmp_path.iterdir()] == ["a.sh"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"theirs")
    with pytest.raises(FileChangedError, match="changed by somebody else"):
        replace_file(path, b"ours", b"new")
    assert path.read_bytes() == b"theirs"
    assert [one.name for one in tmp_path.iterdir()] == ["a.py"]


def test_a_file_that_vanished_stays_away(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="nothing was changed"):
        replace_file(tmp_path / "gone.py", b"", b"new")
    assert [one.name for one in tmp_path.iterdir()] == []


def test_a_failing_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CommandError, match="No space left"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["a.py"]


def test_a_write_protected_file_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere, so the real mode proves nothing
    with pytest.raises(CommandError, match="write-protected"):
        replace_file(path, b"old", b"new")
    assert path.read_bytes() == b"old"
