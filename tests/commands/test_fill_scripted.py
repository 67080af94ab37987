"""`midfill fill` beside an engine that follows a script: what has to happen in between happens on cue."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
from pathlib import Path

import pytest

from engine.protocol import Cancel, ErrorCode, Fill
from tests.commands.conftest import MIDFILL
from tests.conftest import PrivateFolders
from tests.scripted_engine import Answer, Die, Fail, ScriptedEngine, Show, Stall, Until

CODE = b"def f():\r\n    return \r\n"


async def start(*arguments: str, terminal: bool = False) -> tuple[asyncio.subprocess.Process, int]:
    """The process, and the descriptor of its terminal when it has one."""
    if not terminal:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(MIDFILL, *arguments, stdout=pipe, stderr=pipe), -1
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    environment.pop("NO_COLOR", None)
    process = await asyncio.create_subprocess_exec(
        MIDFILL, *arguments, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    return process, ours


async def read_all(descriptor: int) -> str:
    """All that a terminal was sent until its last process left."""

    def read() -> bytes:
        pieces: list[bytes] = []
        while True:
            try:
                piece = os.read(descriptor, 65536)
            except OSError:  # how Linux says that the other side is closed
                piece = b""
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)

    return (await asyncio.to_thread(read)).decode()


async def test_what_is_sent_and_what_comes_back(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Show("a", "b"), Answer.of("a +\n    b", "c")]) as engine:
        process, _ = await start("fill", f"{path}:2", "--json", "--apply", "--seed", "3", "--alternatives", "2")
        out, err = await process.communicate()
        (fill,) = await engine.received(Fill)
    assert (process.returncode, err) == (0, b"")
    assert (fill.prefix, fill.suffix) == ("def f():\n    return ", "\n")
    assert (fill.n_alternatives, fill.seed, fill.language, fill.path) == (2, 3, "python", "a.py")
    told = json.loads(out)
    assert told["text"] == "a +\r\n    b"
    assert [one["text"] for one in told["candidates"]] == ["a +\r\n    b", "c"]
    assert (told["reason"], told["applied"], told["frames"], told["model"]) == ("converged", True, 2, "scripted")
    assert {"steps", "forward_passes", "tokens_per_forward", "timings_ms"} <= set(told)
    assert path.read_bytes() == b"def f():\r\n    return a +\r\n    b\r\n"


async def test_a_file_that_somebody_else_wrote_meanwhile_is_left_alone(
    private_folders: PrivateFolders, tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    written = asyncio.Event()
    async with ScriptedEngine(private_folders.endpoint, [Until(written), Answer.of("1")]) as engine:
        process, _ = await start("fill", f"{path}:2", "--apply")
        await engine.received(Fill)
        path.write_bytes(b"theirs")
        written.set()
        _, err = await process.communicate()
    assert process.returncode == 1
    assert b"changed by somebody else" in err
    assert path.read_bytes() == b"theirs"


async def test_a_link_is_followed_and_stays_a_link(private_folders: PrivateFolders, tmp_path: Path) -> None:
    (tmp_path / "real.py").write_bytes(CODE)
    link = tmp_path / "link.py"
    link.symlink_to("real.py")
    async with ScriptedEngine(private_folders.endpoint, [Answer.of("1")]):
        process, _ = await start("fill", f"{link}:2", "--apply")
        await process.communicate()
    assert process.returncode == 0
    assert link.is_symlink()
    assert link.read_bytes() == b"def f():\r\n    return 1\r\n"


async def test_the_region_is_seen_converging(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Show("sett", "tent"), Answer.of("\x1b[2Jdone")]):
        process, terminal = await start("fill", f"{path}:2", terminal=True)
        seen = await read_all(terminal)
        os.close(terminal)
        assert await process.wait() == 0
    assert "\x1b[1;32msett" in seen  # bold green
    assert "\x1b[2;3;33mtent" in seen  # dim italic yellow
    assert "␛[2Jdone" in seen
    assert "forward pass" in seen
    assert "scripted (uniform, cpu, float32)" in seen
    assert path.read_bytes() == CODE


async def test_in_a_pipe_the_result_is_alone(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Answer.of("a +\n    b")]):
        process, _ = await start("fill", f"{path}:2")
        out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"a +\n    b\n")
    assert b"forward pass" in err
    assert b"scripted (uniform, cpu, float32)" in err


async def test_control_c_cancels_in_the_engine(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Stall()]) as engine:
        process, _ = await start("fill", f"{path}:2", "--apply")
        await engine.received(Fill)
        process.send_signal(signal.SIGINT)
        _, err = await process.communicate()
        await engine.received(Cancel)
    assert (process.returncode, err) == (130, b"midfill: cancelled\n")
    assert path.read_bytes() == CODE


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_leaves_the_terminal_as_it_was(
    private_folders: PrivateFolders, tmp_path: Path, number: signal.Signals
) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Stall()]) as engine:
        process, terminal = await start("fill", f"{path}:2", "--apply", terminal=True)
        await engine.received(Fill)
        process.send_signal(number)
        seen = await read_all(terminal)
        os.close(terminal)
        await engine.received(Cancel)
    assert await process.wait() == 128 + number
    assert seen.rindex("\x1b[?25h") > seen.rindex("\x1b[?25l")  # the cursor is shown again
    assert f"midfill: ended by {number.name}" in seen
    assert path.read_bytes() == CODE


async def test_output_that_can_not_be_written(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    for ending, code, out, err in (
        (">/dev/full", 1, b"", b"midfill: can't write the output: No space left on device\n"),
        (">&-", 0, b"", b"forward pass"),
        ("", 0, b"gr??er\n", b"forward pass"),
    ):
        async with ScriptedEngine(private_folders.endpoint, [Answer.of("größer")]):
            process = await asyncio.create_subprocess_shell(
                f"{MIDFILL} fill {path}:2 {ending}",
                env={**os.environ, "PYTHONIOENCODING": "ascii"},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            told = await process.communicate()
        assert (process.returncode, told[0]) == (code, out), told[1]
        assert err in told[1]


async def test_the_engine_s_failures_are_one_line(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    for script, told in (
        ([Fail(ErrorCode.BUSY, "too much to do")], b"too much to do; run it again"),
        ([Die()], b"went away; run it again"),
    ):
        async with ScriptedEngine(private_folders.endpoint, script):
            process, _ = await start("fill", f"{path}:2", "--json")
            out, err = await process.communicate()
        assert (process.returncode, out) == (1, b"")
        assert told in err
        assert err.count(b"\n") == 1


async def test_a_line_end_that_is_there_already_is_not_doubled(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Answer.of("1\n\n")]):
        process, _ = await start("fill", f"{path}:2", "--apply")
        await process.communicate()
    assert path.read_bytes() == b"def f():\r\n    return 1\r\n"


async def test_an_empty_answer_changes_nothing(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint, [Answer.of("")]):
        process, _ = await start("fill", f"{path}:2", "--apply")
        out, err = await process.communicate()
    assert (process.returncode, out) == (0, b"")
    assert b"suggests nothing" in err
    assert path.read_bytes() == CODE


async def test_a_running_engine_with_another_model_is_told(private_folders: PrivateFolders, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(CODE)
    async with ScriptedEngine(private_folders.endpoint) as engine:
        process, _ = await start("fill", f"{path}:2", "--model", "bundled")
        _, err = await process.communicate()
        assert engine.so_far(Fill) == []
    assert process.returncode == 1
    assert b"the running engine has the model scripted, not bundled" in err
