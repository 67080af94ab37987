"""The life of the server process: its start, its settings, and every way to its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from engine.protocol import Cancel, Fill
from lsp_server import parent
from tests.conftest import PrivateFolders
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import COMMAND, INVALID
from tests.scripted_engine import ScriptedEngine, Stall

MEMORY_LIMIT_MB = 150
LONG_TEXT = Path(types.__file__).read_text(encoding="utf-8")[:100_000]


def message(body: dict[str, Any]) -> bytes:
    """One message as it travels."""
    data = json.dumps({"jsonrpc": "2.0", **body}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


def initialize(process_id: int | None = None) -> bytes:
    """The first message."""
    return message(
        {"id": 1, "method": "initialize", "params": {"processId": process_id, "rootUri": None, "capabilities": {}}}
    )


async def read_message(stream: asyncio.StreamReader) -> Any:
    """The next message from the server."""
    head = await stream.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.startswith(b"Content-Length"))
    return json.loads(await stream.readexactly(length))


async def start(**options: Any) -> asyncio.subprocess.Process:
    """A server without a client library in between."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return await asyncio.create_subprocess_exec(COMMAND, **{**pipes, **options})


async def test_initialize(start_editor: StartEditor) -> None:
    editor = await start_editor()
    assert (editor.server_info.name, editor.server_info.version) == ("midfill-lsp", "0.1.0")
    sync = editor.capabilities.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert sync.open_close and sync.change is types.TextDocumentSyncKind.Incremental
    assert editor.capabilities.inline_completion_provider
    assert editor.capabilities.position_encoding == "utf-16"


def test_version() -> None:
    told = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == "midfill-lsp 0.1.0\n"


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (b"", 1),
        (initialize(), 1),
        (initialize() + message({"id": 2, "method": "shutdown"}), 0),
        (initialize() + message({"id": 2, "method": "shutdown"}) + message({"method": "exit"}), 0),
        (initialize() + message({"method": "exit"}), 1),
        (b"Content-Length: 1000\r\n\r\n{", 1),
        (b"x" * 100_000, 1),
    ],
)
async def test_end_of_input(private_folders: PrivateFolders, last: bytes, code: int) -> None:
    process = await start()
    await process.communicate(last)
    assert process.returncode == code


async def test_exit_while_input_stays_open(private_folders: PrivateFolders) -> None:
    process = await start()
    assert process.stdin is not None
    process.stdin.write(initialize() + message({"id": 2, "method": "shutdown"}) + message({"method": "exit"}))
    assert await process.wait() == 0
    process.stdin.close()


async def test_end_of_input_stops_the_work(private_folders: PrivateFolders, engine: ScriptedEngine) -> None:
    engine.otherwise = lambda fill: [Stall()]
    process = await start()
    assert process.stdin is not None
    document = {"uri": "file:///a.py", "languageId": "python", "version": 1, "text": "x"}
    where = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 1}}
    process.stdin.write(
        initialize()
        + message({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        + message({"id": 2, "method": "midfill/fill", "params": where})
    )
    await engine.received(Fill)
    process.stdin.close()
    await engine.received(Cancel)
    assert await process.wait() == 1


async def test_output_that_nobody_reads(private_folders: PrivateFolders) -> None:
    ours, theirs = os.pipe()
    process = await start(stdout=theirs)
    os.close(ours)
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(initialize())
    assert await process.wait() == 1
    process.stdin.close()


async def test_death_of_the_editor(private_folders: PrivateFolders) -> None:
    editor = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=subprocess.PIPE)
    ours, theirs = os.pipe()  # held open here, so that the server can't see an end of input
    process = await start(stdin=ours)
    os.write(theirs, initialize(editor.pid))
    assert process.stdout is not None
    assert "result" in await read_message(process.stdout)
    editor.send_signal(signal.SIGKILL)
    await editor.communicate()
    assert await asyncio.wait_for(process.wait(), 10) == 1
    os.close(ours)
    os.close(theirs)


async def test_death_of_a_process_without_a_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "_POLL_S", 0.01)

    def refuse(_: int) -> int:
        raise OSError("not in this sandbox")

    monkeypatch.setattr("os.pidfd_open", refuse)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=subprocess.PIPE)
    watching = asyncio.create_task(parent.parent_death(process.pid))
    await asyncio.wait([watching], timeout=0.05)
    assert not watching.done()
    process.kill()
    await watching
    await process.communicate()
    await parent.parent_death(process.pid)  # there is none any more


async def test_requests_that_do_not_fit_are_answered(private_folders: PrivateFolders) -> None:
    process = await start()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(
        message({"id": 7, "method": "textDocument/inlineCompletion", "params": {}})
        + initialize()
        + message({"id": 8, "method": "textDocument/inlineCompletion", "params": {"nonsense": 1}})
        + message({"id": 9, "method": "no/such/method"})
        + message({"method": "textDocument/didChange", "params": {"nonsense": 1}})
        + b"Content-Length: 9\r\n\r\nnot json!"
        + message({"id": 10, "method": "shutdown"})
        + message({"id": 11, "method": "midfill/status"})
    )
    answers = [await read_message(process.stdout) for _ in range(6)]
    process.stdin.close()
    await process.wait()
    told = {answer["id"]: answer.get("error", {}).get("code", "result") for answer in answers}
    assert told == {7: INVALID, 1: "result", 8: INVALID, 9: -32601, 10: "result", 11: -32600}


async def test_a_hostile_folder(
    start_editor: StartEditor, engine: ScriptedEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = tmp_path / "evidence"
    for name in ("engine", "attrs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"import pathlib; pathlib.Path({str(evidence)!r}).touch()\n")
    monkeypatch.chdir(tmp_path)
    for path in ("", ".", str(tmp_path)):
        editor = await start_editor(environment={"PYTHONPATH": path})
        editor.open("x")
        assert await editor.ask(0, 1).texts() == ["filled"]
    assert not evidence.exists()


async def test_wrong_settings_are_told_once(start_editor: StartEditor, engine: ScriptedEngine) -> None:
    editor = await start_editor(options={"maxTokens": "many", "alternative": 2, "editorOnly": 1})
    editor.open("x")
    await editor.ask(0, 1).answer
    (told,) = editor.client.messages
    assert told.message == (
        "Midfill: wrong settings, the defaults are used: "
        "`maxTokens` must be a whole number, not 'many'; `alternative` is unknown; did you mean `alternatives`?"
    )
    assert engine.so_far(Fill)[0].max_tokens == 64


@pytest.mark.parametrize("pull", [False, True])
async def test_settings_can_change(start_editor: StartEditor, engine: ScriptedEngine, pull: bool) -> None:
    editor = await start_editor(configuration=pull)
    editor.open("x")
    settings = {"midfill": {"maxTokens": 5}}
    if pull:
        editor.client.set_configuration(settings)
    change = types.DidChangeConfigurationParams(settings=None if pull else settings)
    asked = editor.client.protocol.wait_for_notification_async("midfill/status")
    editor.client.workspace_did_change_configuration(change)
    if pull:  # the server asks back: by the first answer it has asked, by the second it has been told
        await editor.request("midfill/status").answer
        await editor.request("midfill/status").answer
    await editor.ask(0, 1).answer
    await asked
    assert engine.so_far(Fill)[0].max_tokens == 5


async def test_memory_with_fifty_files(start_editor: StartEditor, engine: ScriptedEngine, record_property: Any) -> None:
    editor = await start_editor()
    for i in range(50):
        editor.open(LONG_TEXT, uri=f"file:///work/file{i}.py")
    for i in range(50):
        await editor.ask(10, 0, uri=f"file:///work/file{i}.py").answer
    resident_mb = editor.resident_mb()
    record_property("resident_mb", resident_mb)
    print(f"midfill-lsp with 50 open files of 100 kB: {resident_mb:.0f} MB resident")
    assert resident_mb < MEMORY_LIMIT_MB


async def test_logs_hold_no_text(
    start_editor: StartEditor, engine: ScriptedEngine, private_folders: PrivateFolders
) -> None:
    editor = await start_editor(arguments=("--log-level", "debug"))
    editor.open("password = 'hunter2'")
    await editor.ask(0, 3).answer
    for method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/inlineCompletion", "no/such/thing"):
        editor.client.protocol._send_data({"jsonrpc": "2.0", "method": method, "params": {"text": "hunter2"}})
    assert (await editor.request("midfill/fill", {"text": "hunter2"}).error()).code == INVALID
    log = (private_folders.logs / "midfill-lsp.log").read_text(encoding="utf-8")
    assert "engine: ready" in log
    assert "hunter2" not in log
