"""The whole way of a keystroke: a real LSP client, the real server, the real engine, real weights.

The bundled model's text is of no help to a user, so with it only the way is judged. With the pulled model the text is
looked at too.
"""

from __future__ import annotations

import ast
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

import engine.paths
from tests.conftest import PrivateFolders
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import CANCELLED, MODIFIED, Automatic, Editor, Invoked, text_of

TOO_LONG_S = 1500.0
"""The engine starts twice, on a machine that others use too, and an old one takes ten times as long."""
SOURCE = Path(str(engine.paths.__file__)).read_text(encoding="utf-8")
LINES = SOURCE.splitlines()
N_CURSORS = {"bundled": 20, "qwen2.5-coder-0.5b": 8}
"""The pulled model takes seconds for each."""
MODELS = ["bundled", pytest.param("qwen2.5-coder-0.5b", marks=pytest.mark.real)]


def cursors(n: int) -> list[tuple[int, int]]:
    """Places all over a file: at the start, at the end, in the middle of lines and on empty ones."""
    spread = [i * (len(LINES) - 1) // (n - 1) for i in range(n)]
    shares = [0.0, 0.5, 1.0, 0.3]
    return [(line, round(len(LINES[line]) * shares[i % len(shares)])) for i, line in enumerate(spread)]


def check_frames(frames: list[Any], text: str | None) -> None:
    """One final frame, the last, which holds the answer; steps only rise."""
    assert [frame.final for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert [frame.step for frame in frames] == sorted(frame.step for frame in frames)
    if text is not None:
        assert text_of(frames[-1]) == text


async def frame_or_end(editor: Editor, ask: Any, token: str) -> None:
    """Wait for the first frame of a request, or for its end where it was quicker."""
    async with editor.news:
        await editor.news.wait_for(lambda: ask.answer.done() or any(f.token == token for f in editor.frames))


@pytest.mark.timeout(TOO_LONG_S + 60)
@pytest.mark.parametrize("model", MODELS)
async def test_a_real_file(
    model: str,
    private_folders: PrivateFolders,
    start_editor: StartEditor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MIDFILL_MODEL", model)
    (tmp_path / "engine").mkdir()  # the user's own: it must be run neither by the server nor by the engine
    (tmp_path / "engine" / "__init__.py").write_text("raise SystemExit('the wrong engine')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ".")
    # Without the gate, and few are enough: the places are all over a finished file, to which little is to be added.
    editor = await start_editor(options={"maxTokens": 16, "deadlineMs": 0, "alternatives": 2, "gate": False})
    editor.open(SOURCE)
    n_cursors = N_CURSORS[model]
    n_with_frames = n_items = 0

    for i, cursor in enumerate(cursors(n_cursors)):  # ask, and see it converge
        token = f"ask{i}"
        items = await editor.ask(*cursor, token=token, kind=Invoked if i % 5 == 0 else Automatic).items()
        frames = [frame for frame in editor.frames if frame.token == token]
        check_frames(frames, items[0][0] if items else None)
        n_with_frames += len(frames) > 1
        n_items += bool(items)
        for text, place in items:
            assert place.start == place.end == types.Position(*cursor)
            assert text.strip()
            assert "\n" not in text or not LINES[cursor[0]][cursor[1] :].strip()
    assert n_items >= n_cursors // 4 and n_with_frames >= n_cursors // 2

    n_stopped = 0
    for i, (line, character) in enumerate(cursors(n_cursors)[:8]):  # cancel some, edit between
        token = f"stop{i}"
        if i % 4 < 2:
            ask = editor.ask(line, character, token=token)
        else:
            ask = editor.fill(line, character, workDoneToken=token, maxTokens=64)
        await frame_or_end(editor, ask, token)
        if i % 2:
            ask.cancel()
        else:
            editor.insert(line, 0, "# é😀\n")
            editor.replace((line, 0), (line + 1, 0), "")
        code = await ask.error_code()
        if code is None:
            continue  # it was quicker
        assert code == (CANCELLED if i % 2 else MODIFIED)
        n_stopped += 1
        await editor.request("midfill/status").answer  # whatever was on its way has come before this
        assert not any(frame.final for frame in editor.frames if frame.token == token)
    assert n_stopped >= 2

    result = await editor.fill(10, 0, workDoneToken="fill", maxTokens=16, seed=1).answer
    assert (result.model, bool(result.note)) == ((await editor.request("midfill/status").answer).model, True)
    assert result.steps >= 1 and result.forwardPasses >= 1 and result.timingsMs.total > 0
    check_frames([frame for frame in editor.frames if frame.token == "fill"], result.candidates[0].text)

    await kill_in_the_middle(editor, private_folders)
    if model != "bundled":
        await real_text(editor)


async def kill_in_the_middle(editor: Editor, folders: PrivateFolders) -> None:
    """Kill -9 in the middle of a fill: it ends, well or with a clear error, and the next one works."""
    pid = (await editor.request("midfill/status").answer).enginePid
    assert [process.pid for process in folders.engines()] == [pid]
    ask = editor.fill(len(LINES), 0, workDoneToken="killed", maxTokens=64)
    await frame_or_end(editor, ask, "killed")
    assert not ask.answer.done()
    os.kill(pid, signal.SIGKILL)
    result = await ask.answer
    assert result.candidates
    assert (await editor.request("midfill/status").answer).enginePid != pid
    (left,) = folders.engines()
    assert left.pid != pid
    assert await editor.fill(3, 0, maxTokens=8).answer
    assert editor.client.messages == []


async def real_text(editor: Editor) -> None:
    """The pulled model writes what fits."""
    text = "def add(first: int, second: int) -> int:\n    return \n\n\nprint(add(2, 3))\n"
    editor.open(text, uri="file:///work/add.py")
    texts = await editor.ask(1, 11, kind=Invoked, uri="file:///work/add.py").texts()
    filled = text.replace("return ", "return " + texts[0])
    ast.parse(filled)
    assert "first" in texts[0] and "second" in texts[0]
