"""Ignore rules, judged by git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_server.context.ignore_rules import IgnoreRules

FILES = ("a.py", "b.txt", "x/a.py", "x/b.txt", "x/y/a.py", "x/y/b.txt", "build/a.py", "x/build/a.py", "z/build/b.txt")

PATTERNS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "", "", "!", "/", "!/", "**/"]),
    st.sampled_from(["a.py", "b.txt", "*.py", "*.txt", "x", "y", "build", "x/y", "x/*", "x/**", "*", "?.py", "[ab].*"]),
    st.sampled_from(["", "", "/"]),
)
RULES = st.lists(PATTERNS, max_size=4)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is the judge here")
    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    return root


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=RULES, below=RULES, deepest=RULES)
def test_git_agrees(repository: Path, top: list[str], below: list[str], deepest: list[str]) -> None:
    for folder, rules in (("", top), ("x", below), ("x/y", deepest)):
        (repository / folder / ".gitignore").write_text("\n".join([*rules, ".gitignore"]) + "\n")
    told = subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--stdin"],
        input="\n".join(FILES),
        capture_output=True,
        text=True,
        cwd=repository,
        check=False,
    )
    rules_here = IgnoreRules(repository, ".gitignore", also=".git/info/exclude")
    assert {name for name in FILES if rules_here.ignored(name)} == set(told.stdout.split())


def test_changed_and_new_files_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    rules = IgnoreRules(tmp_path, ".midfillignore")
    assert not rules.ignored("x/a.py")
    assert not rules.refresh()
    (tmp_path / "x" / ".midfillignore").write_text("*.py\n")
    assert rules.refresh()
    assert rules.ignored("x/a.py")
    (tmp_path / "x" / ".midfillignore").unlink()
    assert rules.refresh()
    assert not rules.ignored("x/a.py")


def test_odd_files_are_read(tmp_path: Path) -> None:
    (tmp_path / ".midfillignore").write_bytes("\ufeff# a comment\r\n\r\n!\r\n*.log\r\nдокумент.txt\r\n".encode())
    rules = IgnoreRules(tmp_path, ".midfillignore")
    assert rules.ignored("a.log")
    assert rules.ignored("документ.txt")
    assert not rules.ignored("a.py")


def test_a_pipe_is_no_rules_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".midfillignore")
    assert not IgnoreRules(tmp_path, ".midfillignore", also=".midfillignore").ignored("a.py")
