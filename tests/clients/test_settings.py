"""Settings from the start on, pulled, pushed, and what follows from their changes; with the real server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from lsprotocol import types

from engine.protocol import Fill, Hello, Shutdown
from tests.clients.conftest import StartDesk
from tests.clients.test_offers import DYNAMIC
from tests.conftest import PrivateFolders
from tests.scripted_engine import ScriptedEngine

NO_PULLS = types.ClientCapabilities(workspace=types.WorkspaceClientCapabilities(apply_edit=True))


async def max_tokens(desk: Any, engine: ScriptedEngine) -> int:
    """The setting as the engine gets to see it."""
    n = len(engine.so_far(Fill))
    await desk.fill(0, 0).answer
    return (await engine.received(Fill, n + 1))[-1].max_tokens


async def test_pulled_at_the_start_and_over_the_first_ones(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(
        capabilities=DYNAMIC, options={"maxTokens": 7, "gate": False}, configuration={"midfill": {"maxTokens": 9}}
    )
    await desk.until_registered(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    desk.open("")
    assert await max_tokens(desk, engine) == 9


async def test_an_empty_push_leaves_the_first_ones(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=NO_PULLS, options={"maxTokens": 7})
    desk.open("")
    for settings, expected in [({}, 7), (None, 7), ({"midfill": {"maxTokens": 5}}, 5), ({"maxTokens": 6}, 6), ({}, 7)]:
        desk.configure(settings)
        assert await max_tokens(desk, engine) == expected, settings


async def test_a_complaint_is_told_once(start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=NO_PULLS, options={"maxTokens": 0})
    assert "`maxTokens` is out of range: 0" in (await desk.until_message()).message
    desk.configure({"midfill": {"gate": 5}})
    assert "maxTokens" not in (await desk.until_message(2)).message
    desk.configure({"midfill": {"gate": 5}})
    await desk.request("midfill/status").answer
    assert len(desk.client.messages) == 2


async def test_another_endpoint_is_connected_to(
    engine: ScriptedEngine, start_desk: StartDesk, private_folders: PrivateFolders
) -> None:
    desk = await start_desk(capabilities=NO_PULLS)
    desk.open("")
    await desk.fill(0, 0).answer
    async with ScriptedEngine(f"ipc://{private_folders.runtime / 'other.sock'}") as other:
        desk.configure({"endpoint": other.endpoint})
        await desk.fill(0, 0).answer
        assert len(other.so_far(Fill)) == 1
        desk.configure({})
        await desk.fill(0, 0).answer
    assert len(engine.so_far(Fill)) == 2
    assert not engine.so_far(Shutdown) and not other.so_far(Shutdown)  # others may use them


def noting(call: Callable[[], Awaitable[None]], done: asyncio.Event) -> Callable[[], Awaitable[None]]:
    """Do it, and say so."""

    async def noted() -> None:
        await call()
        done.set()

    return noted


async def test_another_model_takes_another_engine(
    engine: ScriptedEngine, start_desk: StartDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = await start_desk(capabilities=NO_PULLS)
    desk.open("")
    await desk.fill(0, 0).answer
    desk.configure({"model": "/models/scripted"})  # the one that runs
    await desk.fill(0, 0).answer
    assert len(engine.so_far(Hello)) == 1
    gone = asyncio.Event()
    monkeypatch.setattr(engine, "stop", noting(engine.stop, gone))
    desk.configure({"model": "other"})
    desk.configure({"model": "others"})
    await desk.until_status("stopped")
    await gone.wait()


async def test_settings_reach_no_engine_that_is_not_needed(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=NO_PULLS, options={"model": "one", "endpoint": engine.endpoint})
    desk.configure({"model": "two"})
    desk.configure({"model": "three", "endpoint": ""})
    assert (await desk.request("midfill/status").answer).state == "stopped"
    assert engine.n_hellos == 0
