"""Frames of one request, with the loop's clock held in the hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, field
from lsprotocol import types

from engine.protocol import Frame, Span
from lsp_server import frames
from lsp_server.frames import FRAME_INTERVAL_S, FrameStream, FrameTarget
from lsp_server.protocol_types import FrameParams

HERE = types.Range(types.Position(0, 0), types.Position(0, 0))


@define
class Clock:
    """A loop that only knows `call_later`."""

    waiting: list[tuple[float, Callable[[], None]]] = field(factory=list)

    def call_later(self, delay_s: float, call: Callable[[], None]) -> Any:
        entry = (delay_s, call)
        self.waiting.append(entry)
        return _Handle(lambda: self.waiting.remove(entry))

    def tick(self) -> None:
        waiting, self.waiting = self.waiting, []
        for _, call in waiting:
            call()


@define
class _Handle:
    cancel: Callable[[], None]


@define
class Watched:
    """A stream and what it sent."""

    stream: FrameStream
    sent: list[FrameParams]
    current: list[bool]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(frames.asyncio, "get_running_loop", lambda: clock)
    return clock


@pytest.fixture
def watched(clock: Clock) -> Watched:
    sent: list[FrameParams] = []
    current = [True]
    target = FrameTarget("t", "file:///a", 3, HERE, "\r\n")
    stream = FrameStream(target, sent.append, lambda: current[0], shape=lambda spans: spans)
    return Watched(stream, sent, current)


def frame(step: int, text: str = "a\n") -> Frame:
    return Frame("r", "file:///a", 3, "", step, (Span(text, True), Span("??", False)), final=False)


def test_throttled_to_the_newest(watched: Watched, clock: Clock) -> None:
    for step in range(1, 6):
        watched.stream.show(frame(step))
    assert [one.step for one in watched.sent] == [1]
    assert [delay for delay, _ in clock.waiting] == [FRAME_INTERVAL_S]
    clock.tick()
    assert [one.step for one in watched.sent] == [1, 5]
    clock.tick()
    watched.stream.show(frame(6))
    assert [one.step for one in watched.sent] == [1, 5, 6]
    assert [(span.text, span.settled) for span in watched.sent[0].spans] == [("a\r\n", True), ("??", False)]


def test_one_final_frame_and_nothing_after(watched: Watched, clock: Clock) -> None:
    watched.stream.show(frame(1))
    watched.stream.show(frame(2))
    watched.stream.finish("done\n", 3)
    watched.stream.finish("again", 4)
    watched.stream.show(frame(5))
    clock.tick()
    assert [(one.step, one.final) for one in watched.sent] == [(1, False), (3, True)]
    assert watched.sent[-1].spans[0].text == "done\r\n"


def test_nothing_after_a_cancel(watched: Watched, clock: Clock) -> None:
    watched.stream.show(frame(1))
    watched.stream.show(frame(2))
    watched.stream.close()
    clock.tick()
    watched.stream.show(frame(3))
    watched.stream.finish("x", 4)
    assert [one.step for one in watched.sent] == [1]


def test_nothing_for_another_version(watched: Watched, clock: Clock) -> None:
    watched.current[0] = False
    watched.stream.show(frame(1))
    watched.stream.finish("x", 2)
    assert watched.sent == []


def test_no_text_is_a_final_frame_too(watched: Watched, clock: Clock) -> None:
    watched.stream.finish("", 1)
    assert [(one.spans, one.final) for one in watched.sent] == [((), True)]


def test_never_fewer_rows_than_before(watched: Watched, clock: Clock) -> None:
    for n_rows in (0, 2, 1, 3, 0):
        watched.stream.show(frame(1, "a" + "\n" * n_rows))
        clock.tick()
    rows = [sum(span.text.count("\n") for span in one.spans) for one in watched.sent]
    assert rows == [0, 2, 2, 3, 3]
    watched.stream.finish("a", 2)
    assert watched.sent[-1].spans[0].text == "a"


def test_frames_are_shaped_and_begin_with_the_lead(clock: Clock) -> None:
    sent: list[FrameParams] = []
    target = FrameTarget("t", "file:///a", 3, HERE, "\n", lead="pri")
    stream = FrameStream(target, sent.append, lambda: True, shape=lambda spans: spans[:1])
    stream.show(frame(1, "nt"))
    stream.finish("nt()", 2)
    assert [[span.text for span in one.spans] for one in sent] == [["pri", "nt"], ["pri", "nt()"]]
