"""The core's promises, with a scripted denoiser and a clock of our own: one end for each fill, fair turns, no leaks."""

from __future__ import annotations

import queue
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config import EngineConfig
from engine.core import Core, Leave, Loaded, Told
from engine.denoisers.denoiser import DenoiserError
from engine.protocol import (
    Cancel,
    ErrorCode,
    Failure,
    Fill,
    Frame,
    Hello,
    Loading,
    Priority,
    Reason,
    Reply,
    Result,
    Shutdown,
    Status,
    StatusReport,
    Welcome,
)
from engine.transport import PeerGone, Received
from tests.engine.fake_denoiser import FakeDenoiser


class Bench:
    """A core, its inbox, and what it sent."""

    def __init__(self, denoiser: FakeDenoiser | DenoiserError | None = None, **config: Any) -> None:
        self.inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.sent: list[tuple[bytes, Reply]] = []
        self.now = 0.0
        self.core = Core(
            EngineConfig(**config), self.inbox, lambda peer, reply: self.sent.append((peer, reply)), self.clock
        )
        if denoiser is not None:
            self.inbox.put(Loaded(denoiser))

    def clock(self) -> float:
        return self.now

    def put(self, *items: object) -> Bench:
        for item in items:
            self.inbox.put(item)
        return self

    def run(self) -> Bench:
        """Until everything asked for is done."""
        self.inbox.put(LeaveWhenIdle(self))
        self.core.run()
        return self

    def of(self, kind: type, request_id: str | None = None) -> list[Any]:
        return [r for _, r in self.sent if isinstance(r, kind) and request_id in (None, getattr(r, "request_id", None))]


class LeaveWhenIdle:
    """Puts itself back until no fill is left, then makes the core leave."""

    def __init__(self, bench: Bench) -> None:
        scheduler = bench.core._scheduler
        take = bench.core._take

        def watching(item: object) -> None:
            take(item)
            if item is self:
                bench.inbox.put(self if len(scheduler) else Leave())

        bench.core._take = watching  # type: ignore[method-assign]


def fill(request_id: str, peer: bytes = b"a", **fields: Any) -> Received:
    return Received(peer, Fill(request_id, "p", "s", **fields))


def test_a_fill_has_frames_one_final_one_and_a_result() -> None:
    bench = Bench(FakeDenoiser()).put(fill("x", max_tokens=4, preview=True, uri="u", version=7, session="s")).run()
    frames, (result,) = bench.of(Frame), bench.of(Result)
    assert [frame.final for frame in frames] == [False, False, False, True]
    assert [frame.step for frame in frames] == [1, 2, 3, 4]
    assert frames[-1].spans[0].text == result.candidates[0].text
    assert isinstance(bench.sent[-1][1], Result)
    assert (result.uri, result.version, result.session, result.reason) == ("u", 7, "s", Reason.CONVERGED)
    assert result.n_frames == 4


def test_no_frames_without_preview() -> None:
    bench = Bench(FakeDenoiser()).put(fill("x", max_tokens=3)).run()
    assert not bench.of(Frame)
    assert len(bench.of(Result)) == 1


def test_clients_take_turns() -> None:
    denoiser = FakeDenoiser()
    Bench(denoiser).put(
        fill("a1", b"a", max_tokens=4), fill("a2", b"a", max_tokens=2), fill("b1", b"b", max_tokens=3)
    ).run()
    assert denoiser.order == ["a1", "b1", "a1", "b1", "a1", "b1", "a1", "a2", "a2"]


def test_completions_go_before_rewrites() -> None:
    denoiser = FakeDenoiser()
    Bench(denoiser).put(
        fill("slow", b"a", max_tokens=2, priority=Priority.REWRITE), fill("quick", b"b", max_tokens=2)
    ).run()
    assert denoiser.order == ["quick", "quick", "slow", "slow"]


def test_after_a_cancel_no_frame_comes() -> None:
    bench = Bench()

    def cancel(one: Fill, step: int) -> None:
        if step == 3:
            bench.inbox.put(Received(b"a", Cancel("x")))

    denoiser = FakeDenoiser(cancel)
    bench.put(Loaded(denoiser), fill("x", max_tokens=50, preview=True)).run()
    assert denoiser.order == ["x"] * 3, "within one step"
    (result,) = bench.of(Result)
    assert (result.reason, result.candidates) == (Reason.CANCELLED, ())
    assert not any(frame.final for frame in bench.of(Frame))
    assert isinstance(bench.sent[-1][1], Result)
    assert denoiser.closed == ["x"]


def test_a_newer_fill_of_the_session_takes_the_place_of_the_older() -> None:
    bench = Bench()

    def type_on(one: Fill, step: int) -> None:
        if one.request_id == "old" and step == 2:
            bench.put(fill("new", session="s", max_tokens=2), fill("other", session="t", max_tokens=1))

    bench.put(Loaded(FakeDenoiser(type_on)), fill("old", session="s", max_tokens=50)).run()
    assert bench.of(Result, "old")[0].reason is Reason.CANCELLED
    assert bench.of(Result, "new")[0].reason is Reason.CONVERGED
    assert bench.of(Result, "other")[0].reason is Reason.CONVERGED


def test_sessions_of_other_clients_are_their_own() -> None:
    bench = Bench(FakeDenoiser()).put(fill("x", b"a", session="s"), fill("x", b"b", session="s")).run()
    assert [result.reason for result in bench.of(Result)] == [Reason.CONVERGED] * 2


def test_at_the_deadline_the_best_so_far_is_the_answer() -> None:
    bench = Bench()

    def work(one: Fill, step: int) -> None:
        bench.now += 0.03

    bench.put(Loaded(FakeDenoiser(work)), fill("x", max_tokens=100, deadline_ms=100, preview=True)).run()
    (result,) = bench.of(Result)
    assert result.reason is Reason.DEADLINE
    assert result.n_steps == 4
    assert result.candidates
    assert [frame.final for frame in bench.of(Frame)].count(True) == 1


def test_a_deadline_during_loading() -> None:
    bench = Bench()
    bench.put(Received(b"a", Hello("t", 0)), fill("x", deadline_ms=50), Told("reading", 0.5))
    bench.core._take_requests()
    bench.now = 1.0
    bench.put(Told("reading", 0.6))
    bench.core._take_requests()
    (result,) = bench.of(Result)
    assert (result.reason, result.candidates) == (Reason.DEADLINE, ())
    assert [loading.stage for loading in bench.of(Loading)] == ["starting", "reading", "reading"]


def test_hello_is_answered_when_ready_and_again_when_loaded() -> None:
    bench = Bench().put(Received(b"a", Hello("t", 0)), Loaded(FakeDenoiser()), Received(b"b", Hello("u", 0))).run()
    kinds = [(peer, type(reply)) for peer, reply in bench.sent]
    assert kinds == [(b"a", Loading), (b"a", Welcome), (b"b", Welcome)]


def test_without_a_model_everybody_learns_why() -> None:
    bench = Bench().put(
        Received(b"a", Hello("t", 0)), fill("x"), Loaded(DenoiserError("no such folder; pull it")), fill("y")
    )
    bench.run()
    failures = bench.of(Failure)
    assert {failure.request_id for failure in failures} == {"", "x", "y"}
    assert all(f.code is ErrorCode.MODEL_UNAVAILABLE and "pull it" in f.message for f in failures)


def test_an_error_ends_one_fill_and_names_no_text() -> None:
    def fail(one: Fill, step: int) -> None:
        if one.request_id == "bad":
            raise ValueError("the secret text of the document")

    bench = Bench(FakeDenoiser(fail)).put(fill("bad"), fill("good", b"b", max_tokens=2)).run()
    (failure,) = bench.of(Failure)
    assert (failure.request_id, failure.code) == ("bad", ErrorCode.INTERNAL)
    assert "secret" not in failure.message
    assert bench.of(Result, "good")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate")])
def test_out_of_memory_frees_the_cache_and_may_be_tried_again(error: Exception) -> None:
    def fail(one: Fill, step: int) -> None:
        raise error

    denoiser = FakeDenoiser(fail)
    (failure,) = Bench(denoiser).put(fill("x")).run().of(Failure)
    assert (failure.code, failure.retryable) == (ErrorCode.OUT_OF_MEMORY, True)
    assert denoiser.cache.n_cleared == 1


def test_limits_hold_for_what_came_before_they_were_known() -> None:
    bench = Bench().put(fill("x", n_alternatives=10**9), Loaded(denoiser := FakeDenoiser())).run()
    assert bench.of(Failure, "x")[0].code is ErrorCode.BAD_MESSAGE
    assert denoiser.order == []


def test_work_of_a_dead_client_stops() -> None:
    denoiser = FakeDenoiser()
    bench = Bench()

    def die(one: Fill, step: int) -> None:
        if step == 2:
            bench.put(PeerGone(b"a"))

    denoiser.on_step = die
    bench.put(Loaded(denoiser), fill("x", max_tokens=1000)).run()
    assert len(denoiser.order) == 2
    assert denoiser.closed == ["x"]


def test_work_of_a_process_that_dies_stops() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    bench = Bench()

    def die(one: Fill, step: int) -> None:
        if step == 3:
            process.kill()
            process.wait()

    denoiser = FakeDenoiser(die)
    bench.put(Loaded(denoiser), Received(b"p", Hello("t", process.pid)), fill("x", b"p", max_tokens=1000)).run()
    assert process.stdin is not None
    process.stdin.close()
    assert len(denoiser.order) == 3
    assert denoiser.closed == ["x"]


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1, 2**40, 2**63 - 1])
def test_a_process_that_cannot_be_seen_is_served(pid: int) -> None:
    """Another namespace's, or nonsense: it must neither be taken for dead nor harm anybody."""
    bench = Bench(FakeDenoiser()).put(
        Received(b"p", Hello("t", pid)), fill("x", b"p", max_tokens=3), Received(b"q", Status("s"))
    )
    bench.run()
    assert bench.of(Result, "x")
    assert bench.of(StatusReport, "s")


def test_the_queue_is_bounded_for_each_client() -> None:
    bench = Bench(FakeDenoiser(), queue=2).put(*(fill(f"x{i}") for i in range(6)), fill("y", b"b")).run()
    assert [failure.code for failure in bench.of(Failure)] == [ErrorCode.BUSY] * 3
    assert len(bench.of(Result)) == 4
    assert bench.of(Result, "y")


@pytest.mark.parametrize(
    ("fields", "named"),
    [({"max_tokens": 0}, "max_tokens"), ({"n_alternatives": 99}, "at most 4"), ({"deadline_ms": -1}, "deadline_ms")],
)
def test_unfit_fills_are_refused_in_words(fields: dict[str, int], named: str) -> None:
    (failure,) = Bench(FakeDenoiser()).put(fill("x", **fields)).run().of(Failure)
    assert failure.code is ErrorCode.BAD_MESSAGE
    assert named in failure.message


def test_a_request_id_in_use_is_refused() -> None:
    bench = Bench(FakeDenoiser()).put(fill("x", max_tokens=3), fill("x")).run()
    assert len(bench.of(Failure)) == len(bench.of(Result)) == 1


def test_idle_engines_leave_and_busy_ones_do_not() -> None:
    bench = Bench(FakeDenoiser(), idle_exit_s=60.0)
    bench.core._take_requests()
    assert not bench.core._leaving
    bench.now = 61.0
    bench.put(Received(b"a", Status("s")))
    bench.core._take_requests()
    assert bench.core._leaving


def test_fills_in_flight_fail_when_the_engine_leaves() -> None:
    bench = Bench()

    def leave(one: Fill, step: int) -> None:
        if step == 2:
            bench.put(Received(b"b", Shutdown("bye")))

    bench.put(Loaded(FakeDenoiser(leave)), fill("x", max_tokens=100))
    bench.core.run()
    (failure,) = bench.of(Failure)
    assert (failure.code, failure.retryable) == (ErrorCode.SHUTTING_DOWN, True)


def test_status() -> None:
    bench = (
        Bench(FakeDenoiser())
        .put(Received(b"a", Hello("t", 0)), fill("x", max_tokens=2), Received(b"a", Status("q")))
        .run()
    )
    (report,) = bench.of(StatusReport)
    assert (report.n_clients, report.n_running + report.n_waiting, report.request_id) == (1, 1, "q")
    assert report.resident_bytes > 0


events = st.lists(
    st.tuples(st.sampled_from(["fill", "cancel", "gone", "session"]), st.sampled_from([b"a", b"b"]), st.integers(0, 5)),
    max_size=25,
)


@settings(max_examples=150, deadline=None)
@given(script=events)
def test_whatever_happens_every_fill_has_at_most_one_end(script: list[tuple[str, bytes, int]]) -> None:
    """And exactly one, unless its client is gone; and whatever was opened is closed, once."""
    denoiser = FakeDenoiser()
    bench = Bench(denoiser)
    asked: dict[tuple[bytes, str], None] = {}
    gone = set()
    actions: dict[str, Callable[[bytes, int, int], object]] = {
        "fill": lambda peer, n, i: fill(f"{i}", peer, max_tokens=n + 1, preview=True),
        "session": lambda peer, n, i: fill(f"{i}", peer, max_tokens=n + 1, session=str(n)),
        "cancel": lambda peer, n, i: Received(peer, Cancel(str(n))),
        "gone": lambda peer, n, i: PeerGone(peer),
    }
    for i, (kind, peer, n) in enumerate(script):
        bench.put(actions[kind](peer, n, i))
        if kind in ("fill", "session"):
            asked[(peer, str(i))] = None
        if kind == "gone":
            gone.add(peer)
    bench.run()
    ends = [(peer, reply.request_id) for peer, reply in bench.sent if isinstance(reply, Result | Failure)]
    assert len(ends) == len(set(ends))
    assert set(asked) - set(ends) <= {(peer, i) for peer, i in asked if peer in gone}
    assert len(denoiser.closed) == len(set(denoiser.closed))
    assert set(denoiser.order) <= set(denoiser.closed)
    for peer, request_id in ends:
        finals = [
            r for p, r in bench.sent if isinstance(r, Frame) and (p, r.request_id) == (peer, request_id) and r.final
        ]
        assert len(finals) <= 1
