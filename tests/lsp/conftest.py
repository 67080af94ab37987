"""Fixtures for the language server: a scripted engine at the usual address, and editors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.conftest import PrivateFolders
from tests.lsp.editor import Editor
from tests.scripted_engine import ScriptedEngine

StartEditor = Callable[..., Awaitable[Editor]]


TOO_LONG_S = 60.0
"""A module may set its own."""


@pytest.fixture(autouse=True)
async def no_hanging(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """A test that waits for what never comes fails, and doesn't hang."""
    loop = asyncio.get_running_loop()
    fixture = asyncio.current_task()
    too_long_s = getattr(request.module, "TOO_LONG_S", TOO_LONG_S)

    def give_up() -> None:
        for task in asyncio.all_tasks(loop):
            if task is not fixture:
                task.cancel(f"nothing came for {too_long_s:.0f} s")

    timer = loop.call_later(too_long_s, give_up)
    yield
    timer.cancel()


@pytest.fixture
async def engine(private_folders: PrivateFolders) -> AsyncIterator[ScriptedEngine]:
    """A scripted engine where the server looks for one."""
    async with ScriptedEngine(private_folders.endpoint) as engine:
        yield engine


@pytest.fixture
async def start_editor(private_folders: PrivateFolders) -> AsyncIterator[StartEditor]:
    """Starts editors, and stops them in the end."""
    editors: list[Editor] = []

    async def start(**options: object) -> Editor:
        editor = await Editor.start(**options)  # type: ignore[arg-type]
        editors.append(editor)
        return editor

    yield start
    for editor in editors:
        await editor.stop()
