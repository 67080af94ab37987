"""The real engine process, the bundled weights, a real socket."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import attrs
import msgpack
import psutil
import pytest
import pytest_asyncio
import zmq
import zmq.asyncio
from safetensors.torch import load_file, save_file

from engine.client import EngineClient, EngineError, connect_or_start, engine_command
from engine.protocol import (
    MAX_MESSAGE_BYTES,
    PROTOCOL,
    ErrorCode,
    Failure,
    Fill,
    Frame,
    Reason,
)
from engine.wire import unpack_reply
from tests.conftest import PrivateFolders

FILL = Fill(
    "",
    "def read(path):\n    with open(path) as file:\n        ret",
    "\n\n\ndef write(path):\n    pass\n",
    max_tokens=16,
)
TIMEOUT_S = 120.0


@pytest_asyncio.fixture
async def client(private_folders: PrivateFolders) -> AsyncIterator[EngineClient]:
    """Connected to a fresh engine that has loaded its model."""
    made = await connect_or_start("test")
    await asyncio.wait_for(made.wait_ready(), TIMEOUT_S)
    yield made
    await made.close()


async def test_a_fill_from_end_to_end(client: EngineClient, private_folders: PrivateFolders) -> None:
    frames: list[Frame] = []
    result = await client.fill(attrs.evolve(FILL, preview=True, uri="file:///a.py", version=3), frames.append)
    assert client.welcome is not None and client.welcome.model.name == result.model == "bundled"
    assert [frame.final for frame in frames] == [False] * (len(frames) - 1) + [True]
    assert len(frames) == result.n_frames > 3
    assert "".join(span.text for span in frames[-1].spans) == result.candidates[0].text
    assert {(frame.uri, frame.version) for frame in frames} == {("file:///a.py", 3)}
    assert all(candidate.text for candidate in result.candidates)
    assert result.timings_ms.forward <= result.timings_ms.total
    again = await client.fill(FILL)
    assert again.candidates == result.candidates
    assert again.n_reused_tokens == again.n_prompt_tokens
    mode = stat.S_IMODE(private_folders.runtime.stat().st_mode)
    assert mode == 0o700
    status = await client.status()
    assert (status.n_fills, status.n_running) == (2, 0)


async def test_a_cancel_takes_effect_within_a_step(client: EngineClient) -> None:
    started = asyncio.Event()
    frames: list[Frame] = []

    def show(frame: Frame) -> None:
        frames.append(frame)
        started.set()

    task = asyncio.create_task(client.fill(attrs.evolve(FILL, max_tokens=48, preview=True, n_alternatives=4), show))
    await asyncio.wait_for(started.wait(), TIMEOUT_S)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    seen = len(frames)
    result = await client.fill(FILL)
    assert result.reason in (Reason.CONVERGED, Reason.LIMIT)
    assert len(frames) == seen
    assert not any(frame.final for frame in frames)


async def test_two_clients_are_served_at_once(client: EngineClient) -> None:
    other = await EngineClient.connect(client.endpoint, "other")
    order: list[str] = []
    long = attrs.evolve(FILL, max_tokens=48, preview=True)
    alone = await client.fill(long)
    first, second = await asyncio.gather(
        client.fill(long, lambda _: order.append("a")), other.fill(long, lambda _: order.append("b"))
    )
    await other.close()
    assert first.candidates == second.candidates == alone.candidates
    turns = sum(x != y for x, y in itertools.pairwise(order))
    assert turns > min(order.count("a"), order.count("b")), "their steps alternate"


async def test_a_killed_engine_ends_the_fill_and_the_next_one_works(client: EngineClient) -> None:
    assert client.welcome is not None
    started = asyncio.Event()
    task = asyncio.create_task(
        client.fill(attrs.evolve(FILL, max_tokens=48, preview=True, n_alternatives=4), lambda _: started.set())
    )
    await asyncio.wait_for(started.wait(), TIMEOUT_S)
    os.kill(client.welcome.pid, signal.SIGKILL)
    with pytest.raises(EngineError) as caught:
        await asyncio.wait_for(task, 10)
    assert caught.value.failure.code is ErrorCode.ENGINE_GONE
    assert caught.value.retryable
    assert client.closed
    again = await connect_or_start("test")  # over a stale socket and a stale lock
    result = await again.fill(FILL)
    assert result.candidates
    await again.close()


def _garbage(generator: random.Random) -> list[bytes]:
    good = {"protocol": PROTOCOL, "type": "fill", "request_id": "g", "prefix": "", "suffix": ""}
    wrong = [
        {**good, "protocol": 99},
        {**good, "protocol": None},
        {**good, "type": "fly"},
        {**good, "type": ["fill"]},
        {**good, "max_tokens": "many"},
        {**good, "max_tokens": -1},
        {**good, "priority": 77},
        {**good, "snippets": [{"path": 1}]},
        {**good, "request_id": "x" * 10_000},
        {**good, "unknown": 1},
        {"type": "cancel"},
        [1, 2, 3],
        None,
        {1: 2},
        {**good, b"q": 1},
        {**good, "snippets": [{b"path": 1, "text": {b"x": []}}]},
    ]
    kind = generator.randrange(4)
    if kind == 0:
        return [generator.randbytes(generator.randrange(200))]
    if kind == 1:
        return [b"part"] * generator.randrange(2, 5)
    if kind == 2:
        return [msgpack.packb(good)[: generator.randrange(1, 40)]]
    return [msgpack.packb(generator.choice(wrong))]


async def test_garbage_costs_its_sender_an_error_and_nobody_else_anything(client: EngineClient) -> None:
    before = await client.fill(FILL)
    context = zmq.asyncio.Context()
    hostile = context.socket(zmq.DEALER)
    hostile.linger = 0
    hostile.connect(client.endpoint)
    generator = random.Random(1)
    answers = 0
    for _ in range(30):
        for _ in range(100):
            await hostile.send_multipart(_garbage(generator))
        for _ in range(100):
            reply = unpack_reply(await asyncio.wait_for(hostile.recv(), 10))
            assert isinstance(reply, Failure), reply
            assert reply.code in (ErrorCode.BAD_MESSAGE, ErrorCode.UNKNOWN_PROTOCOL)
            assert len(reply.message) < 500
            answers += 1
    assert answers == 3000
    await hostile.send(b"x" * (MAX_MESSAGE_BYTES + 1))
    raw = socket.socket(socket.AF_UNIX)  # not even ZeroMQ
    raw.connect(client.endpoint.removeprefix("ipc://"))
    raw.sendall(generator.randbytes(5000))
    raw.close()
    hostile.close()
    context.term()
    after = await client.fill(FILL)
    assert after.candidates == before.candidates


async def test_one_engine_for_one_address(client: EngineClient, private_folders: PrivateFolders) -> None:
    second = await asyncio.create_subprocess_exec(*engine_command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = await asyncio.wait_for(second.communicate(), TIMEOUT_S)
    assert second.returncode == 0
    assert client.welcome is not None
    assert str(client.welcome.pid) in (out + err).decode()
    assert (await client.fill(FILL)).candidates


@pytest.mark.parametrize("name", ["mine.sock", "mine.lock"])
async def test_files_of_a_user_are_left_alone(name: str, private_folders: PrivateFolders, tmp_path: Path) -> None:
    mine = tmp_path / name
    mine.write_text("my thesis")
    with pytest.raises(EngineError, match="somebody's"):
        await connect_or_start("test", endpoint=f"ipc://{tmp_path}/mine.sock")
    assert mine.read_text() == "my thesis"


async def test_weights_that_are_missing_are_not_made_up(private_folders: PrivateFolders, tmp_path: Path) -> None:
    bundled = Path(__file__).parents[2] / "engine" / "bundled"
    for file in bundled.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(bundled / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layers.3.mlp.gate_proj" not in name}
    assert len(kept) < len(weights)
    save_file(kept, tmp_path / "model.safetensors", metadata={"format": "pt"})
    client = await connect_or_start("test", arguments=["--model", str(tmp_path)])
    with pytest.raises(EngineError, match=r"weights are missing \(.*layers\.3\.mlp\.gate_proj"):
        await asyncio.wait_for(client.wait_ready(), TIMEOUT_S)
    await client.close()


def test_an_engine_without_its_model_says_so_and_fails(private_folders: PrivateFolders) -> None:
    done = subprocess.run([*engine_command(), "--device", "nowhere"], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 1
    assert "device 'nowhere'" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


async def test_many_at_once_start_one_engine(private_folders: PrivateFolders) -> None:
    clients = await asyncio.gather(*(connect_or_start(f"c{i}") for i in range(4)))
    pids = {(await asyncio.wait_for(one.wait_ready(), TIMEOUT_S)).pid for one in clients}
    assert len(pids) == 1
    for one in clients:
        await one.close()


async def test_shutdown_and_signals_leave_nothing_behind(client: EngineClient, private_folders: PrivateFolders) -> None:
    assert client.welcome is not None
    process = psutil.Process(client.welcome.pid)
    task = asyncio.create_task(client.fill(attrs.evolve(FILL, max_tokens=48, n_alternatives=4)))
    await client.status()
    process.send_signal(signal.SIGTERM)
    with pytest.raises(EngineError) as caught:
        await asyncio.wait_for(task, 10)
    assert caught.value.failure.code in (ErrorCode.SHUTTING_DOWN, ErrorCode.ENGINE_GONE)
    process.wait(10)
    assert not (private_folders.runtime / "engine.sock").exists()
    log = (private_folders.logs / "engine.log").read_text()
    assert "with open" not in log, "no document text in the log"


async def test_an_idle_engine_leaves(private_folders: PrivateFolders) -> None:
    client = await connect_or_start("test", arguments=["--idle-exit-s", "1"])
    pid = (await asyncio.wait_for(client.wait_ready(), TIMEOUT_S)).pid
    await asyncio.to_thread(psutil.Process(pid).wait, 20)
    await client.close()


async def test_a_model_that_is_not_there_is_said_at_once(private_folders: PrivateFolders) -> None:
    with pytest.raises(EngineError, match="/nowhere"):
        await connect_or_start("test", arguments=["--model", "/nowhere"])


async def test_a_checkpoint_that_cannot_be_loaded_is_said_in_words(
    private_folders: PrivateFolders, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    client = await connect_or_start("test", arguments=["--model", str(tmp_path)])
    with pytest.raises(EngineError, match="no denoiser for BertModel") as caught:
        await asyncio.wait_for(client.wait_ready(), TIMEOUT_S)
    assert caught.value.failure.code is ErrorCode.MODEL_UNAVAILABLE
    await client.close()


async def test_folders_of_a_user_are_never_imported(private_folders: PrivateFolders, tmp_path: Path) -> None:
    hostile = tmp_path / "engine"
    hostile.mkdir()
    (hostile / "__init__.py").write_text("raise SystemExit('the user\\'s own engine was run')")
    (tmp_path / "torch.py").write_text("raise SystemExit('the user\\'s own torch was run')")
    code = (
        "import asyncio, engine.client as c\n"
        "async def main():\n"
        "    client = await c.connect_or_start('test')\n"
        "    print((await client.wait_ready()).model.name)\n"
        "    await client.close()\n"
        "asyncio.run(main())"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        "-c",
        code,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    out, _ = await asyncio.wait_for(process.communicate(), TIMEOUT_S)
    assert out.decode().strip() == "bundled"


@pytest.mark.parametrize("endpoint", ["tcp://0.0.0.0:5555", "tcp://127.0.0.1:5555", "ipc://relative.sock", "nonsense"])
def test_nothing_listens_beyond_this_machine(endpoint: str, private_folders: PrivateFolders) -> None:
    done = subprocess.run(
        [*engine_command(), "--endpoint", endpoint], capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert endpoint in done.stderr
