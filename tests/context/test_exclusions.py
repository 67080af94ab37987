"""Which files may be a target or a context."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsp_server.context.exclusions import Exclusions
from lsp_server.outcomes import Nothing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("generated.py\nout/\n")
    (tmp_path / ".midfillignore").write_text("private/\n*.lock\n!keep.lock\n")
    for name in ("private", "out", "src"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_targets(folder: Path) -> None:
    exclusions = Exclusions([folder], ["**/legacy/**", "*.min.js"])
    expected = {
        "app.py": None,
        "generated.py": None,  # ignored is not secret
        "out/app.py": None,
        "private/app.py": Nothing.EXCLUDED,
        "a.lock": Nothing.EXCLUDED,
        "keep.lock": None,
        "src/legacy/a/b.py": Nothing.EXCLUDED,
        "src/a.min.js": Nothing.EXCLUDED,
        "secrets.yaml": Nothing.SECRET,
        "private/.env": Nothing.SECRET,
    }
    assert {name: exclusions.of_name(folder / name) for name in expected} == expected


def test_files_from_disk(folder: Path) -> None:
    exclusions = Exclusions([folder])
    assert exclusions.unlisted(folder / "generated.py")
    assert exclusions.unlisted(folder / "out", is_folder=True)
    assert exclusions.unlisted(folder / "private", is_folder=True)
    assert exclusions.unlisted(folder / "src" / ".env")
    assert not exclusions.unlisted(folder / "src", is_folder=True)
    assert not exclusions.unlisted(folder / "src" / "app.py")


def test_an_ignored_folder_that_was_opened_is_read(folder: Path) -> None:
    (folder / "out" / ".gitignore").write_text("b.py\n")
    exclusions = Exclusions([folder / "out"])
    assert not exclusions.unlisted(folder / "out" / "a.py")
    assert exclusions.unlisted(folder / "out" / "b.py")


def test_rules_above_the_workspace_folder_hold(folder: Path) -> None:
    exclusions = Exclusions([folder / "src"])
    assert exclusions.unlisted(folder / "src" / "generated.py")
    assert exclusions.of_name(folder / "src" / "a.lock") is Nothing.EXCLUDED


def test_files_outside_of_all_folders(folder: Path) -> None:
    exclusions = Exclusions([], ["*.log"])
    assert exclusions.of_name(folder / "private" / "x.py") is Nothing.EXCLUDED
    assert exclusions.of_name(Path("/nowhere/at/all/x.py")) is None
    assert exclusions.of_name(Path("/nowhere/x.log")) is Nothing.EXCLUDED


def test_contents() -> None:
    exclusions = Exclusions()
    assert exclusions.of_text("a\0b") is Nothing.EXCLUDED
    assert exclusions.of_text("A_TOKEN=abcdefgh\nB_TOKEN=abcdefgh\n") is Nothing.SECRET
    assert exclusions.of_text("print(1)\n") is None


def test_rules_are_read_again(folder: Path) -> None:
    exclusions = Exclusions([folder])
    assert exclusions.of_name(folder / "src" / "app.py") is None
    (folder / "src" / ".midfillignore").write_text("app.py\n")
    assert exclusions.refresh()
    assert exclusions.of_name(folder / "src" / "app.py") is Nothing.EXCLUDED
    assert not exclusions.refresh()
