"""Workspaces that are large, slow or odd: a completion never waits for them."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from engine.protocol import Fill
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import Editor, Invoked
from tests.scripted_engine import ScriptedEngine

TOO_LONG_S = 60.0
SHAPES = 'def total_area(shapes, *, unit="mm"):\n    return sum(s.area for s in shapes)\n'
USE = "from shapes import total_area\n\n\ndef run(shapes):\n    return total_area("
MOST_WATCHES = 100


async def until_learned(editor: Editor, engine: ScriptedEngine, uri: str) -> None:
    """Ask until the definition is in the prompt, opening the document anew: nobody says when it has been found."""
    while True:
        editor.open(USE, uri=uri)
        for _ in range(5):
            await editor.ask(4, 22, kind=Invoked, uri=uri).answer
            if any("unit=" in snippet.text for snippet in engine.so_far(Fill)[-1].snippets):
                return
        editor.close(uri)


async def test_a_file_that_never_ends(engine: ScriptedEngine, start_editor: StartEditor, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.py")  # opening it blocks for ever
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "shapes.py").write_text(SHAPES, encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)
    async with asyncio.timeout(TOO_LONG_S):
        editor = await start_editor(folders=[tmp_path])
        uri = (tmp_path / "app.py").as_uri()
        editor.open(USE, uri=uri)
        assert await editor.ask(4, 22, uri=uri).texts() == ["filled"]
        editor.close(uri)
        await until_learned(editor, engine, uri)


@pytest.mark.skipif(sys.platform != "linux", reason="counts inotify watches")
async def test_few_watches_on_a_large_tree(engine: ScriptedEngine, start_editor: StartEditor, tmp_path: Path) -> None:
    for i in range(1500):
        (tmp_path / f"d{i % 40}" / f"e{i}").mkdir(parents=True)
    (tmp_path / "shapes.py").write_text(SHAPES, encoding="utf-8")
    async with asyncio.timeout(TOO_LONG_S):
        editor = await start_editor(folders=[tmp_path])  # a client that does not watch
        uri = (tmp_path / "app.py").as_uri()
        await until_learned(editor, engine, uri)
        assert n_watches(editor.process.pid) < MOST_WATCHES


def n_watches(pid: int) -> int:
    """Inotify watches that a process holds."""
    infos = Path(f"/proc/{pid}/fdinfo").iterdir()
    return sum(info.read_text(encoding="ascii").count("inotify wd:") for info in infos)
