"""Who runs next. Owns: the fills that wait and run. Must not know: sockets, models, clocks. Pure.

Clients take turns, one unit of work each, so that nobody waits for more than everybody else's next step. A client
runs one fill at a time, the most urgent one first; a newer fill of its session takes the older one's place.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from engine.protocol import Fill


class _Job(Protocol):
    @property
    def peer(self) -> bytes: ...

    @property
    def fill(self) -> Fill: ...


J = TypeVar("J", bound=_Job)


class Scheduler(Generic[J]):
    """Jobs of all clients."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._jobs: dict[bytes, list[J]] = {}  # clients in turn order; each client's jobs in order of arrival

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values()))

    def all(self) -> list[J]:
        """Every job."""
        return [job for jobs in self._jobs.values() for job in jobs]

    def of(self, peer: bytes) -> list[J]:
        """One client's jobs."""
        return list(self._jobs.get(peer, ()))

    def find(self, peer: bytes, request_id: str) -> J | None:
        """A client's job by its request."""
        return next((job for job in self._jobs.get(peer, ()) if job.fill.request_id == request_id), None)

    def superseded(self, peer: bytes, fill: Fill) -> list[J]:
        """The jobs whose place `fill` takes."""
        return [job for job in self._jobs.get(peer, ()) if fill.session and job.fill.session == fill.session]

    def is_full(self, peer: bytes) -> bool:
        """Whether this client may not add another job."""
        return len(self._jobs.get(peer, ())) > self._max_waiting

    def add(self, job: J) -> None:
        """Let a job wait for its turn."""
        self._jobs.setdefault(job.peer, []).append(job)

    def remove(self, job: J) -> None:
        """Forget a job."""
        jobs = self._jobs[job.peer]
        jobs.remove(job)
        if not jobs:
            del self._jobs[job.peer]

    def next(self) -> J | None:
        """The job to advance now; its client goes to the end of the line."""
        if not self._jobs:
            return None
        heads = {peer: min(jobs, key=lambda job: job.fill.priority) for peer, jobs in self._jobs.items()}
        urgent = min(job.fill.priority for job in heads.values())
        peer, job = next((peer, job) for peer, job in heads.items() if job.fill.priority == urgent)
        self._jobs[peer] = self._jobs.pop(peer)
        return job
