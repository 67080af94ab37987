"""A small asyncio client of the engine, and the way to start one. Owns: one DEALER socket and its open requests.

Must not know: documents, LSP, torch. Runs in the caller's event loop. Every request ends: with its answer, or with
`EngineError`; when the engine process dies, with `ErrorCode.ENGINE_GONE`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Final

import attrs
import zmq
import zmq.asyncio
from zmq.utils.monitor import recv_monitor_message

from engine.paths import UnsafeFolderError, absolute_overrides, default_endpoint, log_dir
from engine.protocol import (
    MAX_MESSAGE_BYTES,
    Cancel,
    ErrorCode,
    Failure,
    Fill,
    Frame,
    Hello,
    Loading,
    Message,
    Request,
    Result,
    Shutdown,
    Status,
    StatusReport,
    Welcome,
)
from engine.wire import ProtocolError, pack, unpack_reply

_CONNECT_TIMEOUT_S: Final = 1.0
_GREETING_TIMEOUT_S: Final = 30.0
"""For an engine that has taken the connection: it answers between two units of work."""
_START_TIMEOUT_S: Final = 60.0
"""Until a started process answers `Hello` with `Loading`; loading itself may take longer."""


class EngineError(Exception):
    """The engine could not do it. `failure` says why, and whether to try again."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    @property
    def retryable(self) -> bool:
        """Whether the same request may go well later."""
        return self.failure.retryable


class EngineUnreachableError(EngineError):
    """Nobody answers at the address, or the process could not be started."""

    def __init__(self, message: str) -> None:
        super().__init__(Failure("", ErrorCode.ENGINE_GONE, message, retryable=True))


@attrs.define
class _Open:
    """A request without its end yet."""

    answer: asyncio.Future[Message]
    on_frame: Callable[[Frame], None] | None = None


class EngineClient:
    """One connection to one engine. Make it with `connect` or `connect_or_start`."""

    def __init__(self, endpoint: str, name: str) -> None:
        self.endpoint = endpoint
        self.name = name
        self.welcome: Welcome | None = None
        """Who runs; None while the model loads."""
        self.loading: Loading | None = None
        self.on_loading: Callable[[Loading], None] | None = None
        self.on_closed: Callable[[str], None] | None = None
        """Called once, with the cause, when the engine is gone or `close` was called."""
        self.closed = False
        """True once the engine is gone or `close` was called; make a new client then."""
        self._context = zmq.asyncio.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.linger = 200
        self._socket.maxmsgsize = MAX_MESSAGE_BYTES
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_CONNECTED | zmq.EVENT_DISCONNECTED)
        self._open: dict[str, _Open] = {}
        self._ids = itertools.count()
        self._connected = asyncio.Event()
        self._greeted = asyncio.Event()
        self._unreadable: Failure | None = None
        """The engine speaks another protocol."""
        self._ready: asyncio.Future[Welcome] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def connect(
        cls,
        endpoint: str,
        name: str,
        *,
        timeout_s: float = _CONNECT_TIMEOUT_S,
        on_loading: Callable[[Loading], None] | None = None,
    ) -> EngineClient:
        """Connect to a running engine. It may still be loading: see `wait_ready`.

        Raises `EngineUnreachableError` when none is there, `EngineError` when it is of another version.
        """
        client = cls(endpoint, name)
        client.on_loading = on_loading
        try:
            client._socket.connect(endpoint)
            client._tasks = [asyncio.create_task(client._receive()), asyncio.create_task(client._watch())]
            await client._send(Hello(client=name, pid=os.getpid()))
            await asyncio.wait_for(client._connected.wait(), timeout_s)
            try:
                await asyncio.wait_for(client._greeted.wait(), _GREETING_TIMEOUT_S)
            except TimeoutError:
                told = f"the engine{holder(endpoint)} at {endpoint} does not answer; if it hangs, end that process"
                raise EngineError(Failure("", ErrorCode.BUSY, told, retryable=True)) from None
        except (TimeoutError, zmq.ZMQError) as error:
            await client.close()
            raise EngineUnreachableError(f"no engine answers at {endpoint}") from error
        except (asyncio.CancelledError, EngineError):
            await client.close()
            raise
        if client.closed:
            await client.close()
            if client._unreadable is not None:
                raise EngineError(client._unreadable)
            raise EngineUnreachableError(f"the engine at {endpoint} has just left")
        return client

    async def wait_ready(self) -> Welcome:
        """Wait for the model. Raises `EngineError` when it can't be loaded or the engine goes away."""
        return await asyncio.shield(self._ready)

    async def fill(self, fill: Fill, on_frame: Callable[[Frame], None] | None = None) -> Result:
        """Run one fill; `fill.request_id` is replaced by this client's own. Frames go to `on_frame` as they come.

        Cancelling the calling task cancels the fill in the engine. Raises `EngineError`.
        """
        request_id = self.new_id()
        answer = await self._ask(attrs.evolve(fill, request_id=request_id), on_frame)
        assert isinstance(answer, Result)
        return answer

    async def status(self) -> StatusReport:
        """The engine's state. Raises `EngineError`."""
        answer = await self._ask(Status(self.new_id()))
        assert isinstance(answer, StatusReport)
        return answer

    async def shutdown(self) -> None:
        """Make the engine leave, for all its clients, and wait until its socket is closed."""
        with contextlib.suppress(EngineError):
            await self._ask(Shutdown(self.new_id()))

    async def close(self) -> None:
        """Cancel what is open and let go of the socket. Safe to call twice."""
        if self._context.closed:
            return
        if not self.closed:
            for request_id in list(self._open):
                with contextlib.suppress(zmq.ZMQError):
                    await self._socket.send(pack(Cancel(request_id)), zmq.NOBLOCK)
        self._fail_all("this client was closed")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._socket.disable_monitor()
        self._monitor.close(linger=0)
        self._socket.close()
        self._context.term()

    def new_id(self) -> str:
        """A request id that this client has not used."""
        return f"{self.name}-{os.getpid()}-{next(self._ids)}"

    async def _ask(self, request: Fill | Status | Shutdown, on_frame: Callable[[Frame], None] | None = None) -> Message:
        if self.closed:
            raise EngineUnreachableError(f"the engine at {self.endpoint} has gone away")
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._open[request.request_id] = _Open(future, on_frame)
        try:
            await self._send(request)
            return await future
        except asyncio.CancelledError:
            if isinstance(request, Fill) and not self.closed:
                await self._send(Cancel(request.request_id))
            raise
        finally:
            self._open.pop(request.request_id, None)

    async def _send(self, request: Request) -> None:
        data = pack(request)
        if len(data) > MAX_MESSAGE_BYTES:
            told = f"the request has {len(data)} bytes, more than the {MAX_MESSAGE_BYTES} that the engine takes"
            raise EngineError(Failure("", ErrorCode.TOO_LARGE, told, retryable=False))
        await self._socket.send(data)

    async def _receive(self) -> None:
        try:
            while True:
                self._take(unpack_reply(await self._socket.recv()))
        except ProtocolError as error:  # an engine of another version: nothing after this can be trusted
            whose = f"the engine{holder(self.endpoint)} at {self.endpoint}"
            told = f"{whose} is of another version ({error}); end that process"
            self._unreadable = Failure("", ErrorCode.UNKNOWN_PROTOCOL, told, retryable=False)
            self._fail_all(told)
        except zmq.ZMQError as error:
            self._fail_all(f"the connection broke ({error})")

    def _take(self, reply: Message) -> None:
        match reply:
            case Welcome():
                self.welcome = reply
                self._greeted.set()
                if not self._ready.done():
                    self._ready.set_result(reply)
            case Loading():
                self.loading = reply
                self._greeted.set()
                if self.on_loading is not None:
                    try:
                        self.on_loading(reply)
                    except Exception as error:  # the caller's own: it ends the wait
                        self._set_ready_error(error)
            case Frame(request_id=request_id):
                request = self._open.get(request_id)
                if request is not None and request.on_frame is not None and not request.answer.done():
                    try:
                        request.on_frame(reply)
                    except Exception as error:  # the caller's own: it ends this fill, and no other
                        request.answer.set_exception(error)
            case Failure(request_id=""):
                self._greeted.set()
                self._set_ready_error(EngineError(reply))
            case Failure(request_id=request_id):
                request = self._open.get(request_id)
                if request is not None and not request.answer.done():
                    request.answer.set_exception(EngineError(reply))
            case Result(request_id=request_id) | StatusReport(request_id=request_id):
                request = self._open.get(request_id)
                if request is not None and not request.answer.done():
                    request.answer.set_result(reply)

    async def _watch(self) -> None:
        """Learn of the engine's death from the socket: ZeroMQ would reconnect in silence for ever."""
        connected = False
        while True:
            event = (await recv_monitor_message(self._monitor))["event"]
            if event == zmq.EVENT_CONNECTED:
                connected = True
                self._connected.set()
            elif event == zmq.EVENT_DISCONNECTED and connected:
                self._fail_all("the engine process went away")
                return

    def _fail_all(self, why: str) -> None:
        was_closed, self.closed = self.closed, True
        self._greeted.set()
        self._set_ready_error(EngineUnreachableError(why))
        for request in self._open.values():
            if not request.answer.done():
                request.answer.set_exception(EngineUnreachableError(why))
        if self.on_closed is not None and not was_closed:
            self.on_closed(why)

    def _set_ready_error(self, error: Exception) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # taken: nobody has to wait for it


async def connect_or_start(
    name: str,
    *,
    endpoint: str = "",
    arguments: Sequence[str] = (),
    on_loading: Callable[[Loading], None] | None = None,
) -> EngineClient:
    """Connect to the engine at `endpoint`; start one there if nobody answers. Raises `EngineError`.

    `arguments` go to `midfill engine`. The process outlives the caller.
    """
    try:
        return await _connect_or_start(endpoint or default_endpoint(), name, arguments, on_loading)
    except (UnsafeFolderError, OSError) as error:  # no folder, no file, no process to be had
        raise EngineUnreachableError(str(error)) from error


async def _connect_or_start(
    address: str, name: str, arguments: Sequence[str], on_loading: Callable[[Loading], None] | None
) -> EngineClient:
    with contextlib.suppress(EngineUnreachableError):
        return await EngineClient.connect(address, name, on_loading=on_loading)
    with tempfile.TemporaryFile() as complaints:  # not a pipe: the engine outlives us, and must never block on one
        process = _start(address, arguments, complaints)
        deadline = asyncio.get_running_loop().time() + _START_TIMEOUT_S
        while asyncio.get_running_loop().time() < deadline:
            with contextlib.suppress(EngineUnreachableError):
                return await EngineClient.connect(address, name, on_loading=on_loading)
            code = process.poll()
            if code == 0:  # another engine was quicker, or was just leaving: then it's our turn again
                process = _start(address, arguments, complaints)
            elif code is not None:
                complaints.seek(0)
                told = complaints.read().decode(errors="replace").strip().splitlines()
                cause = told[-1].removeprefix("midfill: ") if told else f"the engine left at once with code {code}"
                raise EngineUnreachableError(cause)
    raise EngineUnreachableError(f"the engine did not answer within {_START_TIMEOUT_S:.0f} s; see its log")


_started: Final[list[subprocess.Popen[bytes]]] = []
"""Engines that this process has started: kept, so that the system can forget them when they have left."""


def _start(endpoint: str, arguments: Sequence[str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    _started[:] = [process for process in _started if process.poll() is None]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    environment |= absolute_overrides()  # it starts in another folder
    if (model := environment.get("MIDFILL_MODEL", "")) and Path(model).expanduser().is_dir():
        environment["MIDFILL_MODEL"] = str(Path(model).expanduser().absolute())
    process = subprocess.Popen(
        [*engine_command(), "--endpoint", endpoint, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=complaints,
        start_new_session=True,
        cwd="/",  # never a user's folder: it may be unmounted, or hold files that shadow ours
        env=environment,
    )
    _started.append(process)
    return process


def holder(endpoint: str) -> str:
    """` (process N)`, from the lock beside a socket; empty when it does not tell."""
    try:
        told = Path(endpoint.removeprefix("ipc://")).with_suffix(".lock").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return f" (process {told})" if told.isdigit() else ""


def client_log(name: str) -> Path:
    """Where a client of this name keeps its log: beside the engine's. Raises `OSError`."""
    return log_dir() / f"{name}.log"


def engine_command() -> list[str]:
    """How to start an engine: the console script beside this interpreter, else the one on PATH, else isolated -m."""
    beside = Path(sys.executable).with_name("midfill")
    if beside.exists():
        return [str(beside), "engine"]
    found = shutil.which("midfill")
    return [found, "engine"] if found else [sys.executable, "-I", "-m", "engine.commands", "engine"]
