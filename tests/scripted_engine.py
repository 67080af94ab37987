"""An engine that follows a script. Owns: a real ROUTER socket that speaks `engine.protocol`; no model, no torch.

It replays what a real engine may do, on cue (`tests.engine_script`): frames, answers, errors, silence, death. It runs
in the test's event loop; what has to happen in between is told by events, never by time. Documented code, not a mock:
the link, the server and the conformance suite are tested against it; only the end-to-end tests say whether the real
thing works. It holds the address's lock, dead or alive, so that no real engine that a server starts can take its place.

    async with ScriptedEngine(endpoint, [Show("pri", "nt("), Until(go), Answer("print()")]) as engine:
        ...                          # the first fill that comes in plays the first script, and so on
        await engine.received(Fill)  # wait for what a client sent
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, TypeVar

import attrs
import zmq
import zmq.asyncio

from engine.instance import Instance
from engine.protocol import (
    Cancel,
    Candidate,
    EngineState,
    ErrorCode,
    Failure,
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
    Shutdown,
    Span,
    Status,
    StatusReport,
    Timings,
    Welcome,
)
from engine.wire import ProtocolError, pack, unpack_request
from tests.engine_script import Answer, Die, Fail, LeaveSilently, Show, Stall, Step, Until

__all__ = ["Answer", "Die", "Fail", "LeaveSilently", "ScriptedEngine", "Show", "Stall", "Step", "Until"]

NOTE: Final = "Follows a script; is of no use to anybody."
MODEL: Final = Model("scripted", Family.UNIFORM, "cpu", "float32", 0, NOTE, least_probability=1e-6)
LIMITS: Final = Limits(message_bytes=8 * 1024 * 1024, region_tokens=256, alternatives=8, queue=16)

_Kind = TypeVar("_Kind", bound=Request)


@attrs.define(eq=False)
class _Open:
    """A fill without its end yet."""

    client: bytes
    fill: Fill
    task: asyncio.Task[None] | None = None


class ScriptedEngine:
    """The engine of a test."""

    def __init__(self, endpoint: str, *scripts: Sequence[Step], loaded: bool = True) -> None:
        self.endpoint = endpoint
        self.scripts = list(scripts)
        """One for each fill, in the order of arrival."""
        self.otherwise: Callable[[Fill], Sequence[Step]] = lambda fill: [Answer.of("filled")]
        """What is played when the scripts are used up."""
        self.model = MODEL
        """What runs; another one from the next greeting on."""
        self.requests: list[Request] = []
        self.n_hellos = 0
        self._loaded = loaded
        self._refused: Failure | None = None
        self._deaf = False
        self._news = asyncio.Condition()
        self._clients: set[bytes] = set()
        self._fills: list[_Open] = []
        self._instance: Instance | None = None
        self._context: zmq.asyncio.Context | None = None
        self._socket: zmq.asyncio.Socket | None = None
        self._serving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ScriptedEngine:
        self.start()
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.leave()

    def start(self) -> None:
        """Bind. After a death, this is the next process at the same address."""
        if self._instance is None:
            self._instance = Instance(self.endpoint)
        self._deaf = False
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.bind(self.endpoint)
        self._serving = asyncio.create_task(self._serve(self._socket))

    async def stop(self) -> None:
        """Go away: a death, seen from outside."""
        current = asyncio.current_task()
        tasks = [task for task in (self._serving, *(one.task for one in self._fills)) if task not in (None, current)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._fills.clear()
        if self._socket is not None and self._context is not None:
            self._socket.close(linger=500)
            self._context.term()
        self._socket = self._context = self._serving = None
        self._clients.clear()

    async def leave(self) -> None:
        """Stop, and let others have the address."""
        await self.stop()
        if self._instance is not None:
            self._instance.release()
            self._instance = None

    async def finish_loading(self, failure: str = "") -> None:
        """The model is loaded now, or can't be."""
        self._loaded = not failure
        self._refused = Failure("", ErrorCode.MODEL_UNAVAILABLE, failure, retryable=False) if failure else None
        for client in list(self._clients):
            await self._send(client, self._refused or self._welcome())

    async def received(self, kind: type[_Kind], n: int = 1) -> list[_Kind]:
        """Wait until `n` requests of a kind have come, in all."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.so_far(kind)) >= n)
        return self.so_far(kind)

    async def wait_for_hellos(self, n: int) -> None:
        """Wait until clients have greeted, in all `n` times."""
        await self.until(lambda: self.n_hellos >= n)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; looked at whenever a request has come and whenever a fill has ended."""
        async with self._news:
            await self._news.wait_for(holds)

    def so_far(self, kind: type[_Kind]) -> list[_Kind]:
        """The requests of a kind up to now."""
        return [request for request in self.requests if isinstance(request, kind)]

    @property
    def open_fills(self) -> list[Fill]:
        """Fills that are being worked on."""
        return [one.fill for one in self._fills]

    @property
    def n_open(self) -> int:
        """How many they are."""
        return len(self._fills)

    @property
    def is_up(self) -> bool:
        """Whether it listens."""
        return self._socket is not None and not self._deaf

    async def _serve(self, socket: zmq.asyncio.Socket) -> None:
        while True:
            client, data = await socket.recv_multipart()
            if self._deaf:
                continue
            try:
                request = unpack_request(data)
            except ProtocolError as error:
                await self._send(client, Failure(error.request_id, error.code, str(error), retryable=False))
                continue
            await self._take(client, request)
            async with self._news:
                self.requests.append(request)
                self._news.notify_all()

    async def _take(self, client: bytes, request: Request) -> None:
        match request:
            case Hello():
                self.n_hellos += 1
                self._clients.add(client)
                loading = Loading("weights", 0.25)
                await self._send(client, self._refused or (self._welcome() if self._loaded else loading))
            case Fill():
                # Two editors may have the same file open: only the client's own older fill is overtaken.
                await self._cancel(client, lambda other: bool(other.session) and other.session == request.session)
                script = self.scripts.pop(0) if self.scripts else self.otherwise(request)
                one = _Open(client, request)
                self._fills.append(one)
                one.task = asyncio.create_task(self._play(one, script))
            case Cancel():
                await self._cancel(client, lambda other: other.request_id == request.request_id)
            case Status():
                await self._send(client, self._report(request.request_id))
            case Shutdown():
                await self._send(client, self._report(request.request_id))
                task = asyncio.create_task(self.stop())
                await asyncio.wait([task])

    async def _play(self, one: _Open, script: Sequence[Step]) -> None:
        shown: list[Frame] = []
        for step in script:
            await self._do(one.client, one.fill, step, shown)
        if one in self._fills:  # not so when it has died of its script
            self._fills.remove(one)
        async with self._news:
            self._news.notify_all()

    async def _cancel(self, client: bytes, is_meant: Callable[[Fill], bool]) -> None:
        for one in [one for one in self._fills if one.client == client and is_meant(one.fill)]:
            self._fills.remove(one)
            if one.task is not None:
                one.task.cancel()
            await self._send(client, _result(one.fill, Answer((), Reason.CANCELLED), 0))

    async def _do(self, client: bytes, fill: Fill, step: Step, shown: list[Frame]) -> None:
        match step:
            case Show(settled, tentative):
                spans = [Span(t, s) for t, s in ((settled, True), (tentative, False)) if t]
                frame = Frame(
                    fill.request_id, fill.uri, fill.version, fill.session, len(shown) + 1, tuple(spans), final=False
                )
                shown.append(frame)
                if fill.preview:
                    await self._send(client, frame)
            case Until(event):
                await event.wait()
            case Answer(texts):
                if fill.preview and texts:
                    last = (Span(texts[0], True),)
                    await self._send(
                        client,
                        Frame(fill.request_id, fill.uri, fill.version, fill.session, len(shown) + 1, last, final=True),
                    )
                await self._send(client, _result(fill, step, len(shown) + 1))
            case Fail(code, message):
                await self._send(client, Failure(fill.request_id, code, message, retryable=False))
            case Stall():
                await asyncio.Event().wait()
            case Die(returns):
                await self.stop()
                if returns:
                    self.start()
            case LeaveSilently():
                self._deaf = True

    async def _send(self, client: bytes, reply: Reply) -> None:
        if self._socket is not None and not self._deaf:
            await self._socket.send_multipart([client, pack(reply)])

    def _welcome(self) -> Welcome:
        return Welcome("0.0-scripted", os.getpid(), self.model, LIMITS)

    def _report(self, request_id: str) -> StatusReport:
        state = EngineState.READY if self._loaded else EngineState.LOADING
        return StatusReport(
            request_id, state, "", "0.0-scripted", os.getpid(), 0.0, self.model, 1, self.n_open, 0, 0, 0, 0, 0, 0
        )


def _result(fill: Fill, answer: Answer, n_frames: int) -> Result:
    scores = [*answer.scores, *(-0.5 * i for i in range(len(answer.scores), len(answer.texts)))]
    candidates = tuple(
        Candidate(text, score, len(text), n_frames, answer.reason is Reason.CONVERGED)
        for text, score in zip(answer.texts, scores, strict=True)
    )
    return Result(
        fill.request_id,
        fill.uri,
        fill.version,
        fill.session,
        candidates[: fill.n_alternatives],
        answer.reason,
        n_steps=n_frames,
        n_forward_passes=n_frames,
        n_frames=n_frames,
        n_prompt_tokens=len(fill.prefix) + len(fill.suffix),
        n_reused_tokens=0,
        model=MODEL.name,
        timings_ms=attrs.evolve(Timings(), total=1.0),
    )
