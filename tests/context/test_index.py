"""The index of a workspace folder: what gets in, what stays out, what leaves."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lsp_server.context.exclusions import Exclusions
from lsp_server.context.identifiers import words_in
from lsp_server.context.index import WorkspaceIndex
from lsp_server.context.store import index_file
from tests.context.conftest import write


def opened(folder: Path) -> WorkspaceIndex:
    return WorkspaceIndex(folder, index_file(folder), Exclusions([folder]))


def built(folder: Path) -> WorkspaceIndex:
    index = opened(folder)
    for _ in index.build():
        pass
    return index


def held(index: WorkspaceIndex) -> set[str]:
    return set(index._store.stamps())


def homes(index: WorkspaceIndex, name: str) -> list[tuple[str, int]]:
    return [(place.path, place.first) for place in index.defined(name, 9)]


def test_definitions_and_words_are_found(folder: Path) -> None:
    write(folder, "a/window.py", "class Window:\n    pass\n\n\ndef cut_window(text):\n    return Window(text)\n")
    write(folder, "b.go", "package b\n\nfunc cutWindow() {}\n")
    index = built(folder)
    assert homes(index, "Window") == [("a/window.py", 0)]
    assert homes(index, "cutWindow") == [("b.go", 2)]
    found = index.search(words_in("cut_window(x)"), 8, 5)
    assert found[0].path == "a/window.py"
    assert {place.path for place in found} == {"a/window.py", "b.go"}  # both are `cut window`
    index.close()


def test_what_stays_out(folder: Path) -> None:
    write(folder, ".gitignore", "generated.py\nlogs/\n")
    (folder / ".git").mkdir()
    write(folder, ".midfillignore", "private/\n")
    for name in (
        *("generated.py", "logs/a.py", "private/a.py", ".env", "secrets.yaml", ".hidden/a.py", "node_modules/m/a.js"),
        *("lib/python/site-packages/x.py", "data.json", "a.lock", "photo.png"),
    ):
        write(folder, name, "def unwanted(): pass\n")
    write(folder, "myvenv/pyvenv.cfg", "")
    write(folder, "myvenv/a.py", "def unwanted(): pass\n")
    write(folder, "large.py", "def unwanted(): pass\n" * 20000)
    write(folder, "minified.js", "function unwanted(){}" * 500)
    (folder / "binary.py").write_bytes(b"def unwanted(): pass\0\n")
    (folder / "latin.py").write_bytes(b"def unwanted(): '\xe9'\n")
    write(folder, "settings.sh", "export API_TOKEN=abcdefgh\n")
    os.mkfifo(folder / "pipe.py")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "link.py").symlink_to(folder / "large.py")
    write(folder, "wanted.py", "def wanted(): pass\n")
    index = built(folder)
    assert held(index) == {"wanted.py"}
    assert homes(index, "unwanted") == []
    index.close()


def test_no_secret_gets_into_the_index(folder: Path, cache: Path) -> None:
    token = "ghp_" + "Zq9X" * 9
    code = "".join(f"def part_{n}():\n    value = {n}\n    return value\n\n\n" for n in range(40))
    write(folder, "app.py", f"{code}def connect_upstream():\n    return login('{token}')\n\n\n{code}")
    index = built(folder)
    assert homes(index, "part_3")
    assert homes(index, "connect_upstream") == []
    index.close()
    assert all(token.lower().encode() not in file.read_bytes().lower() for file in cache.rglob("*") if file.is_file())


def test_changes_are_followed(folder: Path) -> None:
    path = write(folder, "a.py", "def first(): pass\n")
    write(folder, "sub/b.py", "def second(): pass\n")
    index = built(folder)
    path.write_text("\n\ndef third(): pass\n")
    index.update(path)
    assert (homes(index, "first"), homes(index, "third")) == ([], [("a.py", 2)])
    index.update(write(folder, "new.py", "def fourth(): pass\n"))
    assert homes(index, "fourth") == [("new.py", 0)]
    (folder / "sub" / "b.py").unlink()
    (folder / "sub").rmdir()
    index.update(folder / "sub")
    assert held(index) == {"a.py", "new.py"}
    path.unlink()
    index.update(write(folder, ".env", "TOKEN=abcdefgh\n"))
    index.close()
    again = built(folder)
    assert held(again) == {"new.py"}
    again.close()


def test_it_persists_and_reads_nothing_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "a.py", "def first(): pass\n")
    built(folder).close()
    monkeypatch.setattr("lsp_server.context.index.read_text_file", lambda path: pytest.fail(f"{path} is read again"))
    index = built(folder)
    assert homes(index, "first") == [("a.py", 0)]
    index.close()


def test_it_lies_in_the_cache_and_is_the_users_own(folder: Path, cache: Path) -> None:
    write(folder, "a.py", "x = 1\n")
    index = built(folder)
    files = [file for file in cache.rglob("*") if file.is_file()]
    assert files
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((cache / "index").stat().st_mode) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["a.py"]
    index.close()


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100])
def test_a_damaged_file_is_made_anew(folder: Path, damage: bytes) -> None:
    write(folder, "a.py", "def first(): pass\n")
    built(folder).close()
    index_file(folder).write_bytes(damage)
    index = built(folder)
    assert homes(index, "first") == [("a.py", 0)]
    index.close()


def test_what_has_changed_since_is_not_quoted(folder: Path) -> None:
    path = write(folder, "a.py", "def first(): pass\n")
    index = built(folder)
    (place,) = index.defined("first", 9)
    assert index.read(place) is not None
    path.write_text("# moved\n\ndef first(): pass\n")
    assert index.read(place) is None
    assert homes(index, "first") == [("a.py", 2)]  # and now it is known
    index.close()


def test_it_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_server.context.index.MAX_FILES", 3)
    for n in range(4):
        write(folder, f"deep/er/f{n}.py", "x = 1\n")
    for n in range(2):
        write(folder, f"top{n}.py", "x = 1\n")
    index = built(folder)
    assert len(held(index)) == 3
    assert {"top0.py", "top1.py"} < held(index)
    index.update(write(folder, "late.py", "x = 1\n"))
    assert len(held(index)) == 3
    index.close()


def test_two_servers_share_one_index(folder: Path) -> None:
    for n in range(5):
        write(folder, f"f{n}.py", f"def job_{n}(): pass\n")
    one, other = opened(folder), opened(folder)
    steps, others = one.build(), other.build()
    for _ in range(10):
        next(steps, None)
        next(others, None)
    assert held(one) == held(other) == {f"f{n}.py" for n in range(5)}
    assert homes(other, "job_3") == [("f3.py", 0)]
    one.close()
    other.close()


def test_a_build_may_stop_at_any_step(folder: Path) -> None:
    for n in range(5):
        write(folder, f"f{n}.py", f"def job_{n}(): pass\n")
    index = opened(folder)
    steps = index.build()
    next(steps)
    next(steps)
    index.close()
    again = built(folder)
    assert len(held(again)) == 5
    again.close()
