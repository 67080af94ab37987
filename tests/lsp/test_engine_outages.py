"""What a user meets when the engine loads, fails, or goes away; through the real server process."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from engine.protocol import Fill
from tests.conftest import PrivateFolders
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import CANCELLED, FAILED, Invoked
from tests.scripted_engine import Answer, Die, LeaveSilently, ScriptedEngine, Show, Until


async def test_death_in_the_middle_of_a_fill(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    go = asyncio.Event()
    engine.scripts.extend([[Show("a"), Until(go), Die()], [Answer.of("_second")]])
    ask = editor.ask(0, 1, token="t")
    await editor.until_frames(1)
    go.set()
    await editor.until_status("stopped")
    engine.start()
    assert await ask.texts() == ["_second"]
    assert [frame.final for frame in editor.frames].count(True) == 1
    assert editor.client.messages == []  # a restart that works is nobody's business


async def test_death_between_fills(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    assert await editor.ask(0, 1).texts() == ["filled"]
    await engine.stop()
    await editor.until_status("stopped")
    engine.start()
    editor.insert(0, 1, "y")
    assert await editor.ask(0, 2).texts() == ["filled"]
    assert engine.n_hellos == 2


async def test_loading_is_shown_where_it_can_be(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with ScriptedEngine(private_folders.endpoint, loaded=False) as engine:
        editor = await start_editor(progress=True)
        plain = await start_editor(progress=False)
        for one in (editor, plain):
            one.open("x")
        begun = editor.client.protocol.wait_for_notification_async(types.PROGRESS)
        asks = [editor.ask(0, 1), plain.ask(0, 1)]
        for one in (editor, plain):
            await one.until_status("loading")
        await begun
        assert engine.so_far(Fill) == []
        ended = editor.client.protocol.wait_for_notification_async(types.PROGRESS)
        await engine.finish_loading()
        assert [await ask.texts() for ask in asks] == [["filled"], ["filled"]]
        await ended
        (reports,) = editor.client.progress_reports.values()
        assert [report.kind for report in reports] == ["begin", "end"]
        assert plain.client.progress_reports == {}


async def test_the_same_file_in_two_editors(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editors = [await start_editor(), await start_editor()]
    go = asyncio.Event()
    engine.otherwise = lambda fill: [Until(go), Answer.of("filled")]
    asks = []
    for n, editor in enumerate(editors, start=1):
        editor.open("x")
        asks.append(editor.ask(0, 1))
        await engine.received(Fill, n)
    go.set()  # both are under way, of the same session by name: neither overtakes the other
    assert [await ask.texts() for ask in asks] == [["filled"], ["filled"]]


async def test_a_model_that_cannot_be_loaded(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with ScriptedEngine(private_folders.endpoint, loaded=False) as engine:
        editor = await start_editor()
        editor.open("x")
        ask = editor.ask(0, 1, kind=Invoked)
        await editor.until_status("loading")
        await engine.finish_loading(failure="this model can't infill")
        error = await ask.error()
        assert (error.code, error.message) == (FAILED, "this model can't infill")
        for _ in range(20):
            assert await editor.ask(0, 1).answer is None
        (message,) = editor.client.messages
        assert message.message == "Midfill has no engine: this model can't infill"
        assert (await editor.until_status("failed")).message == "this model can't infill"


async def test_an_engine_that_cannot_start(
    private_folders: PrivateFolders, start_editor: StartEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDFILL_MODEL", "/no/such/model")
    editor = await start_editor()
    editor.open("x")
    error = await editor.ask(0, 1, kind=Invoked).error()
    assert error.code == FAILED and error.message
    await editor.until_status("failed")
    assert await editor.ask(0, 1).answer is None
    assert len(editor.client.messages) == 1


async def test_an_engine_that_falls_silent(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    go = asyncio.Event()
    engine.scripts.append([Show("a"), Until(go), LeaveSilently()])
    ask = editor.ask(0, 1, token="t")
    await editor.until_frames(1)
    go.set()
    ask.cancel()
    assert (await ask.error()).code == CANCELLED
    by_hand = editor.fill(0, 1)
    by_hand.cancel()
    assert (await by_hand.error()).code == CANCELLED


async def test_restart_by_hand(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    await editor.ask(0, 1).answer
    restarted = editor.request("midfill/restart")
    await editor.until_status("stopped")
    engine.start()
    assert (await restarted.answer).state == "ready"
    editor.insert(0, 1, "y")
    assert await editor.ask(0, 2).texts() == ["filled"]


async def test_two_editors_on_one_engine(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editors = [await start_editor(), await start_editor()]
    for editor in editors:
        editor.open("x")
    assert [await editor.ask(0, 1).texts() for editor in editors] == [["filled"], ["filled"]]
    await editors[0].stop()
    assert await editors[1].ask(0, 1).texts() == ["filled"]
