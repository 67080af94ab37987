"""The real engine and the real server are killed at any moment: nobody hangs, nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import psutil

from engine.client import EngineClient
from tests.conftest import PrivateFolders
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import FAILED, Ask, Editor, Invoked

TOO_LONG_S = 150.0
"""The engine starts up to six times, on a machine that others use too."""
PATIENCE_S = 30.0
"""For one answer, with a start of the engine in it."""
TEXT = "def read(path):\n    with open(path) as file:\n        "
CURSOR = (2, 8)
OPTIONS = {"maxTokens": 16, "deadlineMs": 0}
LOOK_S = 0.02


async def until(holds: Callable[[], bool]) -> None:
    """Wait for a state of processes: nobody tells of those."""
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(LOOK_S)


async def the_engine(folders: PrivateFolders, known: set[int]) -> psutil.Process:
    """Wait for an engine that is none of the known ones."""
    found: list[psutil.Process] = []

    def look() -> bool:
        found[:] = [process for process in folders.engines() if process.pid not in known]
        return bool(found)

    await until(look)
    known.add(found[0].pid)
    return found[0]


def ask(editor: Editor, token: str | None = None) -> Ask:
    """By hand: a failure is told then, and not kept quiet."""
    return editor.ask(*CURSOR, kind=Invoked, token=token)


async def first_frame(editor: Editor, asked: Ask, token: str) -> bool:
    """Wait for it; False: the answer was quicker."""
    async with editor.news:
        await editor.news.wait_for(lambda: asked.answer.done() or any(f.token == token for f in editor.frames))
    return not asked.answer.done()


async def test_the_engine_is_killed_at_any_moment(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        editor = await start_editor(options=OPTIONS)
        editor.open(TEXT)
        known: set[int] = set()

        asked = ask(editor)  # while it starts
        engine = await the_engine(private_folders, known)
        assert all(engine.cmdline()) and not {"None", "undefined"} & set(engine.cmdline())
        engine.kill()
        async with asyncio.timeout(PATIENCE_S):
            assert (await asked.error()).code == FAILED
        assert len(editor.client.messages) == 1

        asked = ask(editor)  # while it loads its model
        engine = await the_engine(private_folders, known)
        await editor.until_status("loading")
        engine.kill()
        async with asyncio.timeout(PATIENCE_S):
            assert await asked.error_code() in (None, FAILED)

        asked = ask(editor, token="fill")  # in the middle of a fill
        engine = (
            await the_engine(private_folders, known) if not private_folders.engines() else private_folders.engines()[0]
        )
        if await first_frame(editor, asked, "fill"):
            engine.kill()
        async with asyncio.timeout(PATIENCE_S):
            assert await asked.error_code() is None  # asked again, of the next engine

        assert len(editor.client.messages) == 1
        assert len(private_folders.engines()) == 1


async def test_restarts_are_bounded(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        editor = await start_editor(options=OPTIONS)
        editor.open(TEXT)
        known: set[int] = set()
        for _ in range(4):  # the first start, and three more
            asked = ask(editor)
            engine = await the_engine(private_folders, known)
            engine.kill()
            assert (await asked.error()).code == FAILED
        for _ in range(20):
            error = await ask(editor).error()
            assert error.code == FAILED and "stays off" in error.message
            assert await editor.ask(*CURSOR).answer is None
        assert len(editor.client.messages) == 1
        assert private_folders.engines() == []

        await editor.request("midfill/restart").answer  # until a person asks
        await ask(editor).answer
        assert len(private_folders.engines()) == 1


async def test_the_server_is_killed_at_any_moment(private_folders: PrivateFolders, start_editor: StartEditor) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        known: set[int] = set()
        first = await start_editor(options=OPTIONS)  # while the engine starts
        first.open(TEXT)
        ask(first)
        engine = await the_engine(private_folders, known)
        await kill(first)

        second = await start_editor(options=OPTIONS)  # while it loads
        second.open(TEXT)
        ask(second)
        async with second.news:
            await second.news.wait_for(lambda: any(one.state in ("loading", "ready") for one in second.statuses))
        await kill(second)

        third, fourth = await start_editor(options=OPTIONS), await start_editor(options=OPTIONS)
        for editor in (third, fourth):
            editor.open(TEXT)
            async with asyncio.timeout(PATIENCE_S):
                await ask(editor).answer
        asked = third.fill(*CURSOR, workDoneToken="fill", maxTokens=200, alternatives=4)  # in the middle of a fill
        await first_frame(third, asked, "fill")
        await kill(third)
        async with asyncio.timeout(PATIENCE_S):
            await ask(fourth).answer
        assert private_folders.engines() == [engine]

        await kill(fourth)  # between two fills
        watcher = await EngineClient.connect(private_folders.endpoint, "watcher")
        while (await watcher.status()).n_running:  # noqa: ASYNC110 - it notices before its next step
            await asyncio.sleep(LOOK_S)
        assert private_folders.processes() == [engine]
        await watcher.shutdown()
        await watcher.close()
        await until(lambda: private_folders.processes() == [])


async def kill(editor: Editor) -> None:
    """As the system does when memory runs out."""
    editor.process.kill()
    await editor.process.wait()
