"""The client against an engine that misbehaves: every wait ends, and says why."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import msgpack
import pytest
import pytest_asyncio
import zmq
import zmq.asyncio

from engine.client import EngineClient, EngineError, EngineUnreachableError, connect_or_start
from engine.protocol import (
    ErrorCode,
    Family,
    Fill,
    Frame,
    Hello,
    Limits,
    Loading,
    Model,
    Reason,
    Reply,
    Request,
    Result,
    Timings,
    Welcome,
)
from engine.wire import pack, unpack_request
from tests.conftest import PrivateFolders

WELCOME = Welcome("0", 1, Model("m", Family.CAUSAL, "cpu", "float32", 1, ""), Limits(1, 1, 1, 1))


class Peer:
    """The engine's end of the socket, played by the test."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self._context = zmq.asyncio.Context()
        self._router = self._context.socket(zmq.ROUTER)
        self._router.linger = 0
        self._router.bind(endpoint)
        self._client = b""

    async def receive(self) -> Request:
        self._client, data = await asyncio.wait_for(self._router.recv_multipart(), 10)
        return unpack_request(data)

    async def send(self, reply: Reply | bytes) -> None:
        await self._router.send_multipart([self._client, reply if isinstance(reply, bytes) else pack(reply)])

    def close(self) -> None:
        self._router.close()
        self._context.term()


@pytest_asyncio.fixture
async def peer(private_folders: PrivateFolders) -> AsyncIterator[Peer]:
    made = Peer(private_folders.endpoint)
    yield made
    made.close()


async def greeted(peer: Peer) -> EngineClient:
    connecting = asyncio.create_task(EngineClient.connect(peer.endpoint, "t"))
    assert isinstance(await peer.receive(), Hello)
    await peer.send(WELCOME)
    return await connecting


async def test_a_caller_that_raises_ends_its_own_fill_only(peer: Peer) -> None:
    client = await greeted(peer)

    def show(_: Frame) -> None:
        raise BrokenPipeError("nobody reads")

    task = asyncio.create_task(client.fill(Fill("", "", "", preview=True), show))
    fill = await peer.receive()
    assert isinstance(fill, Fill)
    await peer.send(Frame(fill.request_id, "", 0, "", 1, (), False))
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(task, 10)
    again = asyncio.create_task(client.fill(Fill("", "", "")))
    fill = await peer.receive()
    assert isinstance(fill, Fill)
    await peer.send(Result(fill.request_id, "", 0, "", (), Reason.CONVERGED, 1, 1, 1, 1, 0, "m", Timings()))
    assert (await asyncio.wait_for(again, 10)).reason is Reason.CONVERGED
    await client.close()


async def test_an_engine_of_another_version_is_named_and_not_asked_again(peer: Peer) -> None:
    connecting = asyncio.create_task(connect_or_start("t"))
    await peer.receive()
    await peer.send(msgpack.packb({"protocol": 99, "type": "welcome"}))
    with pytest.raises(EngineError, match="another version") as caught:
        await asyncio.wait_for(connecting, 10)
    assert not isinstance(caught.value, EngineUnreachableError)
    assert (caught.value.failure.code, caught.value.retryable) == (ErrorCode.UNKNOWN_PROTOCOL, False)


async def test_a_busy_engine_is_waited_for(peer: Peer) -> None:
    connecting = asyncio.create_task(EngineClient.connect(peer.endpoint, "t", timeout_s=0.2))
    await peer.receive()
    done, _ = await asyncio.wait([connecting], timeout=0.6)  # three times as long as for an address without anybody
    assert not done
    await peer.send(Loading("busy", 0.5))
    client = await asyncio.wait_for(connecting, 10)
    assert client.loading == Loading("busy", 0.5)
    await client.close()


async def test_nobody_there(private_folders: PrivateFolders) -> None:
    with pytest.raises(EngineUnreachableError, match="no engine answers"):
        await EngineClient.connect(private_folders.endpoint, "t", timeout_s=0.2)


async def test_a_folder_that_cannot_hold_a_socket(
    private_folders: PrivateFolders, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIDFILL_RUNTIME_DIR", str(tmp_path / ("long" * 30)))
    with pytest.raises(EngineUnreachableError, match="too long"):
        await connect_or_start("t")
