"""What a scripted engine plays for one fill, step by step. Owns: the steps. Must not know: sockets."""

from __future__ import annotations

import asyncio

from attrs import frozen

from engine.protocol import ErrorCode, Reason


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
    scores: tuple[float, ...] = ()
    """Of the texts, in nats per token; those that have none are well scored, the first one best."""

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

    returns: bool = False
    """The next process is there at once, at the same address."""


@frozen
class LeaveSilently:
    """Keep the socket, and answer nothing from now on, not even a cancel: a stopped process."""


Step = Show | Until | Answer | Fail | Stall | Die | LeaveSilently
