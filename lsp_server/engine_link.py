"""The one connection to the engine, shared by all requests. Owns: starting, restarting, giving up, and its state.

Must not know: LSP, documents. Runs in the event loop. The engine starts when it is first needed. When it goes away, the
next request starts it again, within `RestartBudget`; after that the link stays off until a person asks.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import attrs
from attrs import field, frozen

from engine.client import EngineClient, EngineError, EngineUnreachableError
from engine.protocol import ErrorCode, Fill, Frame, Limits, Loading, Model, Result, Welcome
from lsp_server.restarts import MAX_RESTARTS, RestartBudget

_log = logging.getLogger(__name__)
_ATTEMPTS: Final = 2
"""A fill whose engine went away is asked once more, not oftener: it may be what the engine dies of."""
_SHUTDOWN_TIMEOUT_S: Final = 10.0


class LinkState(enum.StrEnum):
    """How things stand with the engine."""

    STOPPED = "stopped"
    """Not needed yet, or gone; the next request starts it."""
    WAITING = "waiting"
    """Pausing before a restart."""
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"
    """It could not be started, or could not load its model."""
    OFF = "off"
    """Given up after too many restarts, until a person asks."""


def _ignore(_: object) -> None:
    """Nobody listens."""


@frozen
class Listeners:
    """Who hears what happens on the link. Called in the event loop; must not block."""

    state: Callable[[EngineLink], None] = field(default=_ignore)
    loading: Callable[[Loading], None] = field(default=_ignore)
    outage: Callable[[str], None] = field(default=_ignore)
    """Once for each outage, with the cause in words; not for a crash that a restart mends."""


Connect = Callable[[Callable[[Loading], None]], Awaitable[EngineClient]]
"""Connects to the engine, and starts one where there is none. Raises `EngineUnreachableError`."""


class EngineLink:
    """Fills go through here."""

    def __init__(self, connect: Connect, listeners: Listeners | None = None) -> None:
        self.state = LinkState.STOPPED
        self.message = ""
        self.welcome: Welcome | None = None
        """Who runs; None unless ready."""
        self._connect = connect
        self._listeners = listeners or Listeners()
        self._restarts = RestartBudget()
        self._client: EngineClient | None = None
        self._connecting: asyncio.Task[EngineClient] | None = None
        self._leaving: set[asyncio.Task[Any]] = set()
        """Connections that were let go and have not ended yet."""
        self._chores: set[asyncio.Task[None]] = set()
        self._had_engine = False
        self._outage_told = False
        self._closed = False

    async def fill(self, fill: Fill, on_frame: Callable[[Frame], None] | None = None) -> tuple[Result, Model]:
        """Run one fill, and say what ran it. Raises `EngineError`. Cancelling the caller cancels it in the engine."""
        for attempt in range(1, _ATTEMPTS + 1):
            client, welcome = await self.ready()
            try:
                return await client.fill(_within(fill, welcome.limits), on_frame), welcome.model
            except EngineError as error:
                gone = error.failure.code in (ErrorCode.ENGINE_GONE, ErrorCode.SHUTTING_DOWN)
                if not gone or attempt == _ATTEMPTS:
                    raise
                _log.warning("the engine went away during a fill (%s); asking again", error)
                self._lost(client, str(error))
        raise AssertionError("unreachable")

    async def ready(self) -> tuple[EngineClient, Welcome]:
        """The connection, with its model loaded; starts the engine when there is none. Raises `EngineError`."""
        if self._closed:
            raise EngineUnreachableError("the server is leaving")
        client = self._client
        if client is None or client.closed:
            if self._connecting is None:
                self._connecting = asyncio.create_task(self._start())
                self._connecting.add_done_callback(self._connected)
            client = await asyncio.shield(self._connecting)  # many requests wait for one start; any may be cancelled
        return client, await client.wait_ready()

    async def restart(self) -> None:
        """A person asks: stop the engine, forget past failures, start it. Raises `EngineError`."""
        self.let_go(stop_engine=True)
        await self.ready()

    def let_go(self, *, stop_engine: bool) -> None:
        """Forget the connection and past failures. The next request makes a new one, once the old one has ended."""
        self._restarts.reset()
        self._had_engine = False
        self._outage_told = False
        connecting, self._connecting = self._connecting, None
        client, self._client = self._client, None
        if client is not None:
            self._leave(self._in_background(self._part(client, stop_engine)))
        elif self.state is not LinkState.STOPPED and not self._leaving:
            self._set_state(LinkState.STOPPED)
        if connecting is not None:
            connecting.cancel()
            self._leave(connecting)

    async def close(self) -> None:
        """Cancel what is open and let go. The engine lives on."""
        self._closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        await asyncio.gather(*self._chores, return_exceptions=True)  # not cancelled: they let go of sockets

    def _leave(self, ending: asyncio.Task[Any]) -> None:
        self._leaving.add(ending)
        ending.add_done_callback(self._leaving.discard)

    async def _part(self, client: EngineClient, stop_engine: bool) -> None:
        if stop_engine:
            with contextlib.suppress(TimeoutError, EngineError):
                await asyncio.wait_for(client.shutdown(), _SHUTDOWN_TIMEOUT_S)
        await client.close()
        self._set_state(LinkState.STOPPED)  # nobody else has set it: a new start waits for this end

    def _connected(self, task: asyncio.Task[EngineClient]) -> None:
        if self._connecting is task:
            self._connecting = None
        if not task.cancelled():
            task.exception()  # taken: every request that waited may have been cancelled

    async def _start(self) -> EngineClient:
        if self._leaving:
            await asyncio.wait(self._leaving)
        if self.state is LinkState.OFF:
            raise EngineUnreachableError(self.message)
        if self._had_engine:
            await self._pause()
        self._had_engine = True
        self._set_state(LinkState.STARTING)
        try:
            client = await self._connect(self._listeners.loading)
        except EngineError as error:
            self._set_state(LinkState.FAILED, str(error))
            raise
        self._client = client
        client.on_closed = lambda why: self._lost(client, why)
        if client.closed:
            self._lost(client, "the engine process went away")
        elif client.welcome is not None:
            self._set_state(LinkState.READY, welcome=client.welcome)
        else:
            self._set_state(LinkState.LOADING)
            self._in_background(self._follow(client))
        return client

    async def _pause(self) -> None:
        delay_s = self._restarts.take(asyncio.get_running_loop().time())
        if delay_s is None:
            cause = f" (last: {self.message})" if self.message else ""
            told = f"the engine went away {MAX_RESTARTS + 1} times within a minute{cause}; it stays off until restarted"
            self._set_state(LinkState.OFF, told)
            raise EngineUnreachableError(told)
        if delay_s:
            self._set_state(LinkState.WAITING, f"restarting the engine in {delay_s:g} s")
            await asyncio.sleep(delay_s)

    async def _follow(self, client: EngineClient) -> None:
        try:
            welcome = await client.wait_ready()
        except EngineError as error:
            if self._client is client and not client.closed:
                self._set_state(LinkState.FAILED, str(error))
            return
        if self._client is client and not client.closed:
            self._set_state(LinkState.READY, welcome=welcome)

    def _lost(self, client: EngineClient, why: str) -> None:
        if self._client is not client:
            return
        self._client = None
        self._in_background(client.close())  # ZeroMQ would connect the old socket to the next engine
        if self.state is not LinkState.FAILED:  # keep the cause when an engine that could not load has left
            self._set_state(LinkState.STOPPED, why)

    def _in_background(self, chore: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(chore)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)
        return task

    def _set_state(self, state: LinkState, message: str = "", welcome: Welcome | None = None) -> None:
        """The only place where the state changes."""
        self.state, self.message, self.welcome = state, message, welcome
        _log.info("engine: %s %s", state, message)
        if state is LinkState.READY:
            self._outage_told = False
        elif state in (LinkState.FAILED, LinkState.OFF) and not self._outage_told:
            self._outage_told = True
            self._listeners.outage(message)
        self._listeners.state(self)


def _within(fill: Fill, limits: Limits) -> Fill:
    """As much of what is asked as this engine gives."""
    return attrs.evolve(
        fill,
        max_tokens=min(fill.max_tokens, limits.region_tokens),
        n_alternatives=min(fill.n_alternatives, limits.alternatives),
    )
