"""An engine that follows a script. Owns: a real ROUTER socket that speaks `engine.protocol`; no model, no torch.

It replays what a real engine may do, on cue: frames, answers, errors, silence, death. It runs in the test's event loop;
what has to happen in between is told by events, never by time. Documented code, not a mock: the link, the server and
later the conformance suite are tested against it; only the end-to-end tests say whether the real thing works.

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
from attrs import frozen

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

NOTE: Final = "Follows a script; is of no use to anybody."
MODEL: Final = Model("scripted", Family.UNIFORM, "cpu", "float32", 0, NOTE)
LIMITS: Final = Limits(message_bytes=8 * 1024 * 1024, region_tokens=256, alternatives=8, queue=16)

_Kind = TypeVar("_Kind", bound=Request)


@frozen
class Show:
    """Send a frame."""

    settled: str
    tentative: str = ""


@frozen
class Until:
    """Wait for an event of the test."""

    event: asyncio.Event


@frozen
class Answer:
    """End with these candidates."""

    texts: tuple[str, ...]
    reason: Reason = Reason.CONVERGED

    @classmethod
    def of(cls, *texts: str) -> Answer:
        """Short for one reason: converged."""
        return cls(texts)


@frozen
class Fail:
    """End with an error."""

    code: ErrorCode
    message: str = "scripted failure"


@frozen
class Stall:
    """Never answer; a cancel still ends it."""


@frozen
class Die:
    """Close the socket without a word, as a killed process does."""


@frozen
class LeaveSilently:
    """Keep the socket, and answer nothing from now on, not even a cancel: a stopped process."""


Step = Show | Until | Answer | Fail | Stall | Die | LeaveSilently


class ScriptedEngine:
    """The engine of a test."""

    def __init__(self, endpoint: str, *scripts: Sequence[Step], loaded: bool = True) -> None:
        self.endpoint = endpoint
        self.scripts = list(scripts)
        """One for each fill, in the order of arrival."""
        self.otherwise: Callable[[Fill], Sequence[Step]] = lambda fill: [Answer.of("filled")]
        """What is played when the scripts are used up."""
        self.requests: list[Request] = []
        self.n_hellos = 0
        self._loaded = loaded
        self._refused: Failure | None = None
        self._deaf = False
        self._news = asyncio.Condition()
        self._clients: set[bytes] = set()
        self._fills: dict[str, asyncio.Task[None]] = {}
        self._context: zmq.asyncio.Context | None = None
        self._socket: zmq.asyncio.Socket | None = None
        self._serving: asyncio.Task[None] | None = None

    async def __aenter__(self) -> ScriptedEngine:
        self.start()
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.stop()

    def start(self) -> None:
        """Bind. After a death, this is the next process at the same address."""
        self._deaf = False
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.ROUTER)
        self._socket.bind(self.endpoint)
        self._serving = asyncio.create_task(self._serve(self._socket))

    async def stop(self) -> None:
        """Go away: a death, seen from outside."""
        current = asyncio.current_task()
        tasks = [task for task in (self._serving, *self._fills.values()) if task is not None and task is not current]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._fills.clear()
        if self._socket is not None and self._context is not None:
            self._socket.close(linger=500)
            self._context.term()
        self._socket = self._context = self._serving = None
        self._clients.clear()

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
        async with self._news:
            await self._news.wait_for(lambda: self.n_hellos >= n)

    def so_far(self, kind: type[_Kind]) -> list[_Kind]:
        """The requests of a kind up to now."""
        return [request for request in self.requests if isinstance(request, kind)]

    @property
    def n_open(self) -> int:
        """Fills that are being worked on."""
        return len(self._fills)

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
                for other in self.so_far(Fill):
                    if request.session and other.session == request.session:
                        await self._cancel(client, other)
                script = self.scripts.pop(0) if self.scripts else self.otherwise(request)
                self._fills[request.request_id] = asyncio.create_task(self._play(client, request, script))
            case Cancel():
                for other in self.so_far(Fill):
                    if other.request_id == request.request_id:
                        await self._cancel(client, other)
            case Status():
                await self._send(client, self._report(request.request_id))
            case Shutdown():
                await self._send(client, self._report(request.request_id))
                task = asyncio.create_task(self.stop())
                await asyncio.wait([task])

    async def _play(self, client: bytes, fill: Fill, script: Sequence[Step]) -> None:
        shown: list[Frame] = []
        for step in script:
            await self._do(client, fill, step, shown)
        self._fills.pop(fill.request_id, None)

    async def _cancel(self, client: bytes, fill: Fill) -> None:
        task = self._fills.pop(fill.request_id, None)
        if task is not None:
            task.cancel()
            await self._send(client, _result(fill, (), Reason.CANCELLED, 0))

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
            case Answer(texts, reason):
                if fill.preview and texts:
                    last = (Span(texts[0], True),)
                    await self._send(
                        client,
                        Frame(fill.request_id, fill.uri, fill.version, fill.session, len(shown) + 1, last, final=True),
                    )
                await self._send(client, _result(fill, texts, reason, len(shown) + 1))
            case Fail(code, message):
                await self._send(client, Failure(fill.request_id, code, message, retryable=False))
            case Stall():
                await asyncio.Event().wait()
            case Die():
                await self.stop()
            case LeaveSilently():
                self._deaf = True

    async def _send(self, client: bytes, reply: Reply) -> None:
        if self._socket is not None and not self._deaf:
            await self._socket.send_multipart([client, pack(reply)])

    def _welcome(self) -> Welcome:
        return Welcome("0.0-scripted", os.getpid(), MODEL, LIMITS)

    def _report(self, request_id: str) -> StatusReport:
        state = EngineState.READY if self._loaded else EngineState.LOADING
        return StatusReport(
            request_id, state, "", "0.0-scripted", os.getpid(), 0.0, MODEL, 1, self.n_open, 0, 0, 0, 0, 0, 0
        )


def _result(fill: Fill, texts: Sequence[str], reason: Reason, n_frames: int) -> Result:
    candidates = tuple(Candidate(text, -0.5 * i, len(text), n_frames, True) for i, text in enumerate(texts))
    return Result(
        fill.request_id,
        fill.uri,
        fill.version,
        fill.session,
        candidates[: fill.n_alternatives],
        reason,
        n_steps=n_frames,
        n_forward_passes=n_frames,
        n_frames=n_frames,
        n_prompt_tokens=len(fill.prefix) + len(fill.suffix),
        n_reused_tokens=0,
        model=MODEL.name,
        timings_ms=attrs.evolve(Timings(), total=1.0),
    )
