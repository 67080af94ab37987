"""Whole runs against a scripted engine on a real socket: what is asked, what is kept, how a run goes on."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import zmq
import zmq.asyncio

from engine.client import EngineClient, EngineError
from engine.commands import run
from engine.evaluation.cases import Case, CaseSet, Kind, Program
from engine.evaluation.fillers import BaselineFiller, EngineFiller
from engine.evaluation.records import Record, Store
from engine.evaluation.runner import run_cases
from engine.protocol import (
    Candidate,
    ErrorCode,
    Failure,
    Family,
    Fill,
    Hello,
    Limits,
    Model,
    Reason,
    Reply,
    Result,
    Timings,
    Welcome,
)
from engine.wire import pack, unpack_request

MODEL = Model("scripted", Family.CAUSAL, "cpu", "float32", 1_000_000, "For tests.")
WELCOME = Welcome("0", 1, MODEL, Limits(message_bytes=1 << 23, region_tokens=100, alternatives=1, queue=1))
Script = Callable[[Fill], Reply | None]


def result(fill: Fill, text: str) -> Result:
    return Result(
        request_id=fill.request_id,
        uri=fill.uri,
        version=fill.version,
        session=fill.session,
        candidates=(Candidate(text, 0.0, n_tokens=8, n_steps=4, converged=True),),
        reason=Reason.CONVERGED,
        n_steps=4,
        n_forward_passes=5,
        n_frames=0,
        n_prompt_tokens=10,
        n_reused_tokens=0,
        model=MODEL.name,
        timings_ms=Timings(total=12.5),
    )


class ScriptedEngine:
    """Answers each fill by its script, on a real ROUTER socket."""

    def __init__(self) -> None:
        self.script: Script = lambda fill: result(fill, "    y = x * 2")
        self.fills: list[Fill] = []
        self.endpoint = f"ipc://{tempfile.mkdtemp(prefix='mf', dir='/tmp')}/engine.sock"
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.bind(self.endpoint)

    async def serve(self) -> None:
        while True:
            sender, data = await self._socket.recv_multipart()
            request = unpack_request(data)
            reply: Reply | None = WELCOME if isinstance(request, Hello) else None
            if isinstance(request, Fill):
                self.fills.append(request)
                reply = self.script(request)
            if reply is not None:
                await self._socket.send_multipart([sender, pack(reply)])

    def close(self) -> None:
        self._context.destroy(linger=0)


@pytest.fixture
async def engine() -> AsyncIterator[ScriptedEngine]:
    engine = ScriptedEngine()
    serving = asyncio.create_task(engine.serve())
    yield engine
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    engine.close()


@pytest.fixture
async def filler(engine: ScriptedEngine) -> AsyncIterator[EngineFiller]:
    client = await EngineClient.connect(engine.endpoint, "test")
    yield EngineFiller(client, await client.wait_ready())
    await client.close()


TEST = Program("def check(candidate):\n    assert candidate(2) == 4\n", "double")
CASES = [
    Case(f"case/{i}", Kind.SINGLE_LINE, f"# {i}\ndef double(x):\n", "    y = 2 * x\n", "    return y\n", program=TEST)
    for i in range(4)
]


async def go(filler: EngineFiller | BaselineFiller, store: Store) -> list[tuple[Record, bool]]:
    heard: list[tuple[Record, bool]] = []
    await run_cases(CaseSet.SINGLE_LINE, CASES, filler, store, lambda record, fresh: heard.append((record, fresh)))
    return heard


async def test_a_fill_asks_by_its_policy_and_is_judged(
    engine: ScriptedEngine, filler: EngineFiller, tmp_path: Path
) -> None:
    heard = await go(filler, Store(tmp_path, filler.name))
    asked = engine.fills[0]
    assert (asked.prefix, asked.suffix) == (CASES[0].prefix, CASES[0].suffix)
    assert (asked.max_lines, asked.max_tokens, asked.preview, asked.seed) == (1, 96, False, 0)
    record, fresh = heard[0]
    assert fresh and record.text == "    y = x * 2\n"  # the line end that one line can't bring
    assert (record.end, record.exact) == ("passed", False)
    assert (record.reason, record.n_tokens, record.n_steps, record.n_forward_passes) == ("converged", 8, 4, 5)
    assert record.total_ms == 12.5


async def test_a_smaller_region_limits_what_is_asked(
    engine: ScriptedEngine, filler: EngineFiller, tmp_path: Path
) -> None:
    filler.region_tokens = 32
    heard = await go(filler, Store(tmp_path, filler.name))
    assert engine.fills[0].max_tokens == heard[0][0].max_tokens == 32


async def test_an_interrupted_run_goes_on_where_it_was(
    engine: ScriptedEngine, filler: EngineFiller, tmp_path: Path
) -> None:
    store = Store(tmp_path, filler.name)

    def leave_at_the_third(fill: Fill) -> Reply:
        if len(engine.fills) == 3:
            return Failure(fill.request_id, ErrorCode.SHUTTING_DOWN, "leaving", retryable=True)
        return result(fill, "    y = x * 2")

    engine.script = leave_at_the_third
    with pytest.raises(EngineError, match="leaving"):
        await go(filler, store)
    heard = await go(filler, store)
    assert [fresh for _, fresh in heard] == [False, False, True, True]
    assert [fill.prefix[2] for fill in engine.fills] == ["0", "1", "2", "2", "3"]
    assert [fresh for _, fresh in await go(filler, store)] == [False] * 4
    assert len(engine.fills) == 5


async def test_no_case_is_begun_when_time_is_up(engine: ScriptedEngine, filler: EngineFiller, tmp_path: Path) -> None:
    store = Store(tmp_path, filler.name)
    heard: list[bool] = []

    async def go_on(n: int) -> bool:
        heard.clear()
        so_far = len(engine.fills)
        return await run_cases(
            CaseSet.SINGLE_LINE, CASES, filler, store,
            lambda record, fresh: heard.append(fresh), lambda: len(engine.fills) - so_far >= n,
        )  # fmt: skip

    assert not await go_on(0) and heard == []
    assert not await go_on(3) and heard == [True] * 3
    assert await go_on(1) and heard == [False] * 3 + [True]
    assert await go_on(0) and heard == [False] * 4


async def test_another_limit_makes_a_new_record(engine: ScriptedEngine, filler: EngineFiller, tmp_path: Path) -> None:
    store = Store(tmp_path, filler.name)
    await go(filler, store)
    filler.region_tokens = 32
    assert all(fresh for _, fresh in await go(filler, store))
    assert {record.max_tokens for record in store.read(CaseSet.SINGLE_LINE).values()} == {32}


async def test_a_refusal_that_will_not_change_counts_as_a_wrong_answer(
    engine: ScriptedEngine, filler: EngineFiller, tmp_path: Path
) -> None:
    engine.script = lambda fill: Failure(fill.request_id, ErrorCode.TOO_LARGE, "too large", retryable=False)
    heard = await go(filler, Store(tmp_path, filler.name))
    assert {(record.reason, record.end, record.text) for record, _ in heard} == {("error: too_large", "failed", "\n")}


async def test_baselines_are_judged_the_same_way(tmp_path: Path) -> None:
    heard = await go(BaselineFiller("truth", lambda case: case.middle), Store(tmp_path, "truth"))
    assert all(record.exact and record.end == "passed" for record, _ in heard)


async def test_the_command_runs_a_set_against_an_engine_and_reports(
    engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"task_id": "a/0", "entry_point": "double", "prompt": "def double(x):\n", "suffix": "    return y\n"}
    row |= {"canonical_solution": "    y = x * 2\n", "test": TEST.test}
    (tmp_path / "HumanEval-SingleLineInfilling.jsonl").write_text(json.dumps(row) + "\n")
    arguments = ["eval", "humaneval-single-line", "--path", str(tmp_path), "--out", str(tmp_path / "out")]
    code = await asyncio.to_thread(run, [*arguments, "--endpoint", engine.endpoint, "--json"])
    told = capsys.readouterr()
    assert code == 0, told.err
    rows = json.loads(told.out)["rows"]
    assert [(one["who"], one["passed"], one["exact"]) for one in rows] == [
        ("scripted", 1.0, 1.0),
        ("copy from the buffer", 0.0, 0.0),
        ("empty", 0.0, 0.0),
    ]
    assert "double" not in told.err  # no document text in the progress


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_command_in_one_line(
    number: signal.Signals, engine: ScriptedEngine, tmp_path: Path
) -> None:
    asked = asyncio.Event()

    def never(fill: Fill) -> None:
        asked.set()

    engine.script = never
    row = {"kind": "rol", "pkg": "a", "path": "a.py", "offset": 0, "prefix": "import ", "middle": "os", "suffix": ""}
    (tmp_path / "eval_cases.jsonl").write_text(json.dumps(row) + "\n")
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("midfill"),
        *("eval", "held-out", "--path", tmp_path, "--out", tmp_path / "out", "--endpoint", engine.endpoint),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    await asyncio.wait_for(asked.wait(), 60)
    process.send_signal(number)
    told, error = await asyncio.wait_for(process.communicate(), 60)
    assert (process.returncode, told) == (1, b"")
    assert b"run the same command to go on" in error.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["humaneval-single-line"], "no path given"),
        (["nonsense"], "humaneval-single-line"),
        ([], "holds no results yet"),
        (["humaneval-single-line", "--n", "0"], "--n"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
