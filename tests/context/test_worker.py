"""The background thread: its order of work and its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from lsp_server.context.worker import Worker

TOO_LONG_S = 60.0


@pytest.fixture
def done() -> list[str]:
    return []


@pytest.fixture
def worker(done: list[str]) -> Iterator[Worker]:
    made = Worker(lambda: done.append("end"))
    yield made
    made.end()


def steps(done: list[str], name: str, n: int) -> Iterator[None]:
    for step in range(n):
        done.append(f"{name}{step}")
        yield


def test_jobs_go_first_and_in_order(worker: Worker, done: list[str]) -> None:
    begin = threading.Event()
    worker.submit(lambda: begin.wait(TOO_LONG_S))
    worker.slowly(steps(done, "slow", 2))
    worker.submit(lambda: done.append("one"))
    worker.submit(lambda: done.append("two"))
    begin.set()
    assert worker.wait_idle(TOO_LONG_S)
    assert done == ["one", "two", "slow0", "slow1"]


def test_a_job_comes_between_slow_steps(worker: Worker, done: list[str]) -> None:
    def slow() -> Iterator[None]:
        worker.submit(lambda: done.append("job"))
        yield
        done.append("slow")

    worker.slowly(slow())
    assert worker.wait_idle(TOO_LONG_S)
    assert done == ["job", "slow"]


def test_slow_work_waits_while_somebody_types(worker: Worker, done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_server.context.worker.QUIET_S", 2 * TOO_LONG_S)
    worker.key()
    worker.slowly(steps(done, "slow", 1))
    ran = threading.Event()
    worker.submit(ran.set)
    assert ran.wait(TOO_LONG_S)
    assert not worker.wait_idle(0)
    worker.end()
    assert done == ["end"]


def test_failures_stop_nothing(worker: Worker, done: list[str], caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise ValueError("text of a document")

    def slow() -> Iterator[None]:
        yield
        fail()

    worker.submit(fail)
    worker.slowly(slow())
    worker.slowly(steps(done, "slow", 1))
    worker.submit(lambda: done.append("job"))
    assert worker.wait_idle(TOO_LONG_S)
    assert sorted(done) == ["job", "slow0"]
    assert "ValueError" in caplog.text
    assert "text of a document" not in caplog.text


def test_the_end_comes_last_and_once(worker: Worker, done: list[str]) -> None:
    worker.submit(lambda: done.append("job"))
    assert worker.wait_idle(TOO_LONG_S)
    worker.end()
    worker.end()
    assert done == ["job", "end"]
