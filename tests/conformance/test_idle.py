"""Servers and an engine that have nothing to do, do nothing."""

from __future__ import annotations

import asyncio

import psutil

from engine.client import EngineClient
from tests.conftest import PrivateFolders
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import Editor, Invoked

TOO_LONG_S = 120.0
SPAN_S = 3.0
MOST_OF_A_CORE = 0.2
"""Rest is far below; a busy machine must not make this fail."""


def seconds_of(processes: list[psutil.Process]) -> float:
    """Processor time that they have taken up to now."""
    times = [process.cpu_times() for process in processes]
    return sum(float(one.user + one.system) for one in times)


async def assert_at_rest(processes: list[psutil.Process]) -> None:
    """Over a span of time."""
    before = seconds_of(processes)
    await asyncio.sleep(SPAN_S)  # what is measured is that nothing happens meanwhile
    assert seconds_of(processes) - before < MOST_OF_A_CORE * SPAN_S * len(processes)


async def test_two_editors_and_the_real_engine(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        editors: list[Editor] = [await start_editor(options={"maxTokens": 8}) for _ in range(2)]
        for editor in editors:
            editor.open("x = ")
            await editor.ask(0, 4, kind=Invoked).answer
        watcher = await EngineClient.connect(private_folders.endpoint, "watcher")
        n_fills = (await watcher.status()).n_fills
        for _ in range(10):  # from window to window and back
            for editor in editors:
                await editor.request("midfill/status").answer
        (engine,) = private_folders.engines()
        await assert_at_rest([engine, *(psutil.Process(editor.process.pid) for editor in editors)])
        assert (await watcher.status()).n_fills == n_fills
        await watcher.close()


async def test_switched_off(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        editor = await start_editor(options={"enabled": False})
        for i in range(10):
            editor.open("x = ", uri=f"file:///work/{i}.py")
            editor.insert(0, 4, "1", uri=f"file:///work/{i}.py")
            assert await editor.ask(0, 5, uri=f"file:///work/{i}.py").answer is None
        await assert_at_rest([psutil.Process(editor.process.pid)])
        assert private_folders.engines() == []
