"""The engine's core: one thread that owns all state. Takes requests from the inbox, advances fills, sends replies.

Owns: the life of a fill from request to its one end. Must not know: sockets' insides, tensors, tokens.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import queue
import time
import traceback
from collections.abc import Callable
from typing import Final

import psutil
import structlog
from attrs import frozen

from engine.config import EngineConfig
from engine.denoisers.denoiser import Denoiser, DenoiserError
from engine.job import Job
from engine.protocol import (
    Cancel,
    EngineState,
    ErrorCode,
    Failure,
    Fill,
    Frame,
    Hello,
    Loading,
    Reason,
    Reply,
    Shutdown,
    Span,
    Status,
    StatusReport,
    Welcome,
)
from engine.scheduler import Scheduler
from engine.transport import PeerGone, Received, TransportEnded

VERSION: Final = importlib.metadata.version("midfill")
_FAILED_EXIT_S: Final = 10.0
"""An engine without a model stays this long, so that whoever waits learns why."""

log = structlog.get_logger(__name__)

Load = Callable[[Callable[[str, float], None]], Denoiser]
"""Loads the model; told where to report stage and fraction. Raises `DenoiserError`."""


@frozen
class Told:
    """Progress of loading, from the loading thread."""

    stage: str
    fraction: float


@frozen(eq=False)
class Loaded:
    """The model, or why there is none."""

    denoiser: Denoiser | DenoiserError


@frozen
class Leave:
    """A signal: end in good order."""


class Core:
    """State of one engine process."""

    def __init__(
        self,
        config: EngineConfig,
        inbox: queue.SimpleQueue[object],
        send: Callable[[bytes, Reply], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config, self._inbox, self._send, self._clock = config, inbox, send, clock
        self._scheduler: Scheduler[Job] = Scheduler(config.queue)
        self._clients: dict[bytes, int] = {}  # greeted clients' process ids
        self._denoiser: Denoiser | None = None
        self._state, self._detail, self._fraction = EngineState.LOADING, "starting", 0.0
        self._started = self._last_request = clock()
        self._n_fills = self._n_failures = 0
        self._leaving = False

    def run(self) -> None:
        """Until told to leave, or idle for too long."""
        while not self._leaving:
            self._take_requests()
            self._turn()
        for job in self._scheduler.all():
            self._fail(job, ErrorCode.SHUTTING_DOWN, "the engine is leaving", retryable=True)
        log.info("left", n_fills=self._n_fills)

    @property
    def failure(self) -> str:
        """Why there is no model; empty unless loading has failed."""
        return self._detail if self._state is EngineState.FAILED else ""

    # Requests

    def _take_requests(self) -> None:
        """Everything that has come in; waits only when there is nothing else to do."""
        busy = self._state is EngineState.READY and len(self._scheduler) > 0
        with contextlib.suppress(queue.Empty):
            self._take(self._inbox.get_nowait() if busy else self._inbox.get(timeout=self._patience()))
            for _ in range(self._inbox.qsize()):  # not until it is empty: a flood must not keep fills from their turn
                self._take(self._inbox.get_nowait())
        now = self._clock()
        for job in [job for job in self._scheduler.all() if job.deadline <= now]:
            self._finish(job, Reason.DEADLINE)
        if not len(self._scheduler) and now - self._last_request >= self._idle_limit():
            log.info("idle", seconds=round(now - self._last_request))
            self._leaving = True

    def _idle_limit(self) -> float:
        match self._state:
            case EngineState.LOADING:
                return float("inf")
            case EngineState.FAILED:
                return _FAILED_EXIT_S
            case EngineState.READY:
                return self._config.idle_exit_s

    def _patience(self) -> float:
        """Seconds to wait for the next request."""
        now = self._clock()
        due = min((job.deadline for job in self._scheduler.all()), default=float("inf"))
        return min(max(0.0, min(due, self._last_request + self._idle_limit()) - now), 3600.0)

    def _take(self, item: object) -> None:
        match item:
            case Received(peer, Hello() as hello):
                self._last_request = self._clock()
                self._forget_dead_clients()
                # a process that can't be seen from here (another namespace) can't be watched either
                self._clients[peer] = hello.pid if _is_alive(hello.pid) else 0
                self._greet(peer)
            case Received(peer, Fill() as fill):
                self._last_request = self._clock()
                self._accept(peer, fill)
            case Received(peer, Cancel(request_id)):
                if (job := self._scheduler.find(peer, request_id)) is not None:
                    self._cancel(job)
            case Received(peer, Status(request_id)):
                self._send(peer, self._report(request_id))
            case Received(_, Shutdown()) | Leave() | TransportEnded():
                self._leaving = True
            case PeerGone(peer):
                self._drop(peer)
            case Told(stage, fraction):
                self._detail, self._fraction = stage, fraction
                for peer in self._clients:
                    self._greet(peer)
            case Loaded(denoiser):
                self._settle(denoiser)

    def _greet(self, peer: bytes) -> None:
        if self._denoiser is not None:
            model, limits = self._denoiser.model, self._denoiser.limits
            self._send(peer, Welcome(VERSION, os.getpid(), model, limits))
        elif self._state is EngineState.FAILED:
            self._send(peer, Failure("", ErrorCode.MODEL_UNAVAILABLE, self._detail, retryable=False))
        else:
            self._send(peer, Loading(self._detail, self._fraction))

    def _settle(self, loaded: Denoiser | DenoiserError) -> None:
        self._last_request = self._clock()
        if isinstance(loaded, DenoiserError):
            self._state, self._detail = EngineState.FAILED, str(loaded)
            log.error("no model", cause=self._detail)
            for job in self._scheduler.all():
                self._fail(job, ErrorCode.MODEL_UNAVAILABLE, self._detail, retryable=False)
        else:
            self._denoiser, self._state, self._detail = loaded, EngineState.READY, ""
            log.info("ready", model=loaded.model.name, device=loaded.model.device, dtype=loaded.model.dtype)
        for peer in self._clients:
            self._greet(peer)

    def _accept(self, peer: bytes, fill: Fill) -> None:
        job = Job(peer, fill, self._clock())
        if self._state is EngineState.FAILED:
            self._reject(job, ErrorCode.MODEL_UNAVAILABLE, self._detail)
            return
        if (told := self._unfit(fill)) or self._scheduler.find(peer, fill.request_id) is not None:
            self._reject(job, ErrorCode.BAD_MESSAGE, told or "this request_id is in use")
            return
        for older in self._scheduler.superseded(peer, fill):
            self._cancel(older)
        if self._scheduler.is_full(peer):
            self._reject(
                job, ErrorCode.BUSY, f"more than {self._config.queue} fills of this client wait", retryable=True
            )
            return
        self._scheduler.add(job)

    def _unfit(self, fill: Fill) -> str:
        """Why a fill can't be taken; empty when it can."""
        if not 0 < len(fill.request_id) <= 200:
            return "request_id must have 1 to 200 characters"
        for name, least in (("max_tokens", 1), ("n_alternatives", 1), ("max_lines", 0), ("deadline_ms", 0)):
            if (value := getattr(fill, name)) < least:
                return f"{name} must be at least {least}, not {value}"
        limits = self._denoiser.limits if self._denoiser is not None else None
        if limits is not None and fill.n_alternatives > limits.alternatives:
            return f"n_alternatives must be at most {limits.alternatives}, not {fill.n_alternatives}"
        return ""

    def _reject(self, job: Job, code: ErrorCode, message: str, *, retryable: bool = False) -> None:
        self._n_failures += 1
        self._send(job.peer, Failure(job.fill.request_id, code, message, retryable))

    # Work

    def _turn(self) -> None:
        """One unit of work of the fill whose turn it is."""
        if self._state is not EngineState.READY or (job := self._scheduler.next()) is None:
            return
        pid = self._clients.get(job.peer, 0)
        if pid and not _is_alive(pid):
            self._drop(job.peer)
            return
        try:
            self._advance(job)
        except Exception as error:
            self._went_wrong(job, error)

    def _advance(self, job: Job) -> None:
        assert self._denoiser is not None
        if job.denoising is None:
            if told := self._unfit(job.fill):  # it may have come before the limits were known
                self._fail(job, ErrorCode.BAD_MESSAGE, told, retryable=False)
                return
            job.started = self._clock()
            job.denoising = self._denoiser.open(job.fill)
        progress = job.denoising.advance()
        if progress.reason is not None:
            self._finish(job, progress.reason)
        elif progress.frame is not None:
            self._show(job, progress.frame, final=False)

    def _went_wrong(self, job: Job, error: Exception) -> None:
        """End a fill by what it raised. The cause may quote the document: it goes nowhere, the log has the place."""
        memory = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
        if memory or "DefaultCPUAllocator" in str(error):
            if self._denoiser is not None:
                self._denoiser.cache.clear()
            told = "not enough memory for this fill; ask for fewer tokens or alternatives"
            self._fail(job, ErrorCode.OUT_OF_MEMORY, told, retryable=True)
            return
        places = [f"{place.filename}:{place.lineno}" for place in traceback.extract_tb(error.__traceback__)[-6:]]
        log.error("fill failed", request_id=job.fill.request_id, kind=type(error).__name__, places=places)
        told = f"{type(error).__name__} while filling; the engine's log has the place"
        self._fail(job, ErrorCode.INTERNAL, told, retryable=False)

    def _show(self, job: Job, spans: tuple[Span, ...], *, final: bool) -> None:
        if not job.n_frames:
            job.first_frame = self._clock()
        job.n_frames += 1
        fill = job.fill
        if fill.preview:
            step = job.denoising.counts.n_steps if job.denoising is not None else 0
            frame = Frame(fill.request_id, fill.uri, fill.version, fill.session, step, spans, final)
            self._send(job.peer, frame)

    def _finish(self, job: Job, reason: Reason) -> None:
        """The one good end."""
        denoising = job.denoising
        cancelled = reason is Reason.CANCELLED
        candidates = denoising.candidates() if denoising is not None and not cancelled else ()
        if not cancelled:
            text = candidates[0].text if candidates else ""
            self._show(job, (Span(text, settled=True),) if text else (), final=True)
        self._close(job)
        self._n_fills += 1
        model = self._denoiser.model.name if self._denoiser is not None else ""
        result = job.result(reason, candidates, model, self._clock())
        log.info(
            "fill",
            request_id=result.request_id,
            reason=reason,
            n_steps=result.n_steps,
            n_prompt_tokens=result.n_prompt_tokens,
            n_reused_tokens=result.n_reused_tokens,
            total_ms=round(result.timings_ms.total, 1),
            forward_ms=round(result.timings_ms.forward, 1),
        )
        self._send(job.peer, result)

    def _cancel(self, job: Job) -> None:
        self._finish(job, Reason.CANCELLED)

    def _fail(self, job: Job, code: ErrorCode, message: str, *, retryable: bool) -> None:
        """The one bad end."""
        self._close(job)
        self._reject(job, code, message, retryable=retryable)

    def _forget_dead_clients(self) -> None:
        for peer in [peer for peer, pid in self._clients.items() if pid and not _is_alive(pid)]:
            self._drop(peer)

    def _drop(self, peer: bytes) -> None:
        """A client is gone: its work stops. Should it live after all, it learns what happened."""
        for job in self._scheduler.of(peer):
            self._fail(job, ErrorCode.SHUTTING_DOWN, "this client was taken for dead", retryable=True)
        if self._clients.pop(peer, None) is not None:
            log.info("client gone", n_clients=len(self._clients))

    def _close(self, job: Job) -> None:
        if job.denoising is not None:
            job.denoising.close()
        self._scheduler.remove(job)

    # Reports

    def _report(self, request_id: str) -> StatusReport:
        denoiser = self._denoiser
        self._forget_dead_clients()
        running = sum(job.denoising is not None for job in self._scheduler.all())
        return StatusReport(
            request_id=request_id,
            state=self._state,
            detail=self._detail,
            engine_version=VERSION,
            pid=os.getpid(),
            uptime_s=self._clock() - self._started,
            model=denoiser.model if denoiser is not None else None,
            n_clients=len(self._clients),
            n_running=running,
            n_waiting=len(self._scheduler) - running,
            n_fills=self._n_fills,
            n_failures=self._n_failures,
            cache_bytes=denoiser.cache.n_bytes if denoiser is not None else 0,
            cache_tokens=denoiser.cache.n_tokens if denoiser is not None else 0,
            resident_bytes=psutil.Process().memory_info().rss,
        )


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # alive, and another user's
        pass
    return True
