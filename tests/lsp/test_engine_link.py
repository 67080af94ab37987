"""The engine link against a scripted engine at a real socket: shared starts, restarts, their bound."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from attrs import define, field

from engine.client import EngineClient, EngineError, EngineUnreachableError
from engine.protocol import ErrorCode, Fill, Loading
from lsp_server.engine_link import EngineLink, LinkState, Listeners
from lsp_server.restarts import RestartBudget
from tests.conftest import PrivateFolders
from tests.scripted_engine import Answer, Die, Fail, ScriptedEngine, Stall

FILL = Fill("", "prefix", "suffix")


@define
class Bench:
    """A link, its engine, and what was heard."""

    engine: ScriptedEngine
    link: EngineLink = field(init=False)
    n_starts: int = 0
    startable: bool = True
    states: list[LinkState] = field(factory=list)
    outages: list[str] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        listeners = Listeners(state=lambda link: self.states.append(link.state), outage=self.outages.append)
        self.link = EngineLink(self._connect, listeners)

    async def _connect(self, on_loading: Callable[[Loading], None]) -> EngineClient:
        self.n_starts += 1
        if not self.startable:
            raise EngineUnreachableError("no such model")
        if self.engine._socket is None:
            self.engine.start()
        return await EngineClient.connect(self.engine.endpoint, "test", on_loading=on_loading, timeout_s=10)

    async def fill(self) -> str:
        """The best text of one fill."""
        result, model = await self.link.fill(FILL)
        assert model.name == "scripted"
        return result.candidates[0].text


@pytest.fixture
async def bench(private_folders: PrivateFolders, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bench]:
    monkeypatch.setattr("lsp_server.restarts._FIRST_DELAY_S", 0.001)
    engine = ScriptedEngine(private_folders.endpoint)
    bench = Bench(engine)
    yield bench
    await bench.link.close()
    await engine.leave()


async def test_one_start_for_many(bench: Bench) -> None:
    assert await asyncio.gather(*(bench.fill() for _ in range(5))) == ["filled"] * 5
    assert bench.n_starts == 1
    assert bench.states == [LinkState.STARTING, LinkState.READY]


async def test_a_cancelled_caller_leaves_the_start_to_others(bench: Bench) -> None:
    first = asyncio.create_task(bench.fill())
    second = asyncio.create_task(bench.fill())
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "filled"
    assert bench.n_starts == 1 and first.cancelled()


async def test_a_fill_is_asked_again_once(bench: Bench) -> None:
    bench.engine.scripts.extend([[Die()], [Answer.of("second")]])
    assert await bench.fill() == "second"
    bench.engine.scripts.extend([[Die()], [Die()], [Answer.of("never asked")]])
    with pytest.raises(EngineError) as caught:
        await bench.fill()
    assert caught.value.failure.code is ErrorCode.ENGINE_GONE
    assert len(bench.engine.scripts) == 1
    assert bench.outages == []


async def test_given_up_after_three_restarts_until_asked(bench: Bench) -> None:
    bench.engine.otherwise = lambda fill: [Die()]
    for _ in range(6):
        with pytest.raises(EngineError):
            await bench.fill()
    assert bench.n_starts == 4 and bench.link.state is LinkState.OFF
    (told,) = bench.outages
    assert told.startswith("the engine went away 4 times within a minute")
    assert LinkState.WAITING in bench.states
    bench.engine.otherwise = lambda fill: [Answer.of("well again")]
    await bench.link.restart()
    assert await bench.fill() == "well again"
    assert bench.n_starts == 5 and bench.link.state is LinkState.READY


async def test_one_message_for_an_outage(bench: Bench) -> None:
    bench.startable = False
    for _ in range(10):
        with pytest.raises(EngineUnreachableError):
            await bench.fill()
    assert bench.n_starts == 4
    assert bench.outages == ["no such model"]
    assert "no such model" in bench.link.message


async def test_a_failed_load_keeps_its_cause(bench: Bench) -> None:
    bench.engine._loaded = False
    waiting = asyncio.create_task(bench.fill())
    await bench.engine.wait_for_hellos(1)
    await bench.engine.finish_loading(failure="too big for this machine")
    with pytest.raises(EngineError, match="too big"):
        await waiting
    with pytest.raises(EngineError, match="too big"):
        await bench.fill()
    assert bench.n_starts == 1
    assert (bench.link.state, bench.outages) == (LinkState.FAILED, ["too big for this machine"])


async def test_an_error_is_not_an_outage(bench: Bench) -> None:
    bench.engine.scripts.append([Fail(ErrorCode.INTERNAL, "oops")])
    with pytest.raises(EngineError, match="oops"):
        await bench.fill()
    assert bench.link.state is LinkState.READY
    assert await bench.fill() == "filled"


async def test_close_ends_what_is_open(bench: Bench) -> None:
    bench.engine.otherwise = lambda fill: [Stall()]
    fill = asyncio.create_task(bench.fill())
    await bench.engine.received(Fill)
    await bench.link.close()
    with pytest.raises(EngineError):
        await fill
    assert bench.n_starts == 1


def test_restart_budget() -> None:
    budget = RestartBudget()
    assert [budget.take(now) for now in (0, 1, 2, 3, 59)] == [0.0, 0.5, 1.0, None, None]
    assert budget.take(60.5) == 1.0  # the first has left the window
    budget.reset()
    assert budget.take(61) == 0.0
