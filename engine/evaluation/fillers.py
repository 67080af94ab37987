"""Fillers: who fills a hole. Owns: the engine behind its socket, and the baselines, behind one interface.

Must not know: files, metrics, how the engine works inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from attrs import frozen

from engine.client import EngineClient, EngineError
from engine.evaluation.cases import Case
from engine.evaluation.policy import Policy
from engine.protocol import Fill, Priority, Welcome

_UNBOUNDED: Final = 1_000_000


@frozen
class Answer:
    """What a filler made."""

    text: str
    reason: str
    n_tokens: int = 0
    n_steps: int = 0
    n_forward_passes: int = 0
    total_ms: float = 0.0
    score: float | None = None
    """Mean log-probability per token, in nats; None where nobody said."""


class Filler(Protocol):
    """Fills one hole at a time."""

    @property
    def name(self) -> str:
        """As shown in the report."""

    @property
    def region_tokens(self) -> int:
        """Longest region that it can make."""

    async def fill(self, case: Case, policy: Policy) -> Answer:
        """Fill the hole. Raises `EngineError` when going on makes no sense."""


class EngineFiller:
    """The engine, over its real socket."""

    def __init__(self, client: EngineClient, welcome: Welcome) -> None:
        self._client = client
        self.name = welcome.model.name
        self.region_tokens = welcome.limits.region_tokens
        self._scores = welcome.model.scores

    async def fill(self, case: Case, policy: Policy) -> Answer:
        """One candidate, no guesses, no deadline, always the same seed."""
        request = Fill(
            request_id="",
            prefix=case.prefix,
            suffix=case.suffix,
            language="python",
            path=case.path,
            max_tokens=min(policy.max_tokens, self.region_tokens),
            max_lines=policy.max_lines,
            priority=Priority.BACKGROUND,
        )
        try:
            result = await self._client.fill(request)
        except EngineError as error:
            if error.retryable:  # busy, gone, leaving: the run stops here and can go on later
                raise
            return Answer("", f"error: {error.failure.code}")
        best = result.candidates[0] if result.candidates else None
        return Answer(
            text=best.text if best else "",
            reason=result.reason,
            n_tokens=best.n_tokens if best else 0,
            n_steps=result.n_steps,
            n_forward_passes=result.n_forward_passes,
            total_ms=result.timings_ms.total,
            score=best.score if best and self._scores else None,
        )


class BaselineFiller:
    """A function of the case."""

    region_tokens = _UNBOUNDED

    def __init__(self, name: str, function: Callable[[Case], str]) -> None:
        self.name = name
        self._function = function

    async def fill(self, case: Case, policy: Policy) -> Answer:
        """What the function says; costs nothing worth measuring."""
        return Answer(self._function(case), "")
