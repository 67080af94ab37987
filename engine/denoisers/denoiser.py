"""The one interface of all denoisers. Owns: what the scheduler may ask. Must not know: sockets, families' insides.

A denoiser opens a fill as a `Denoising`; the scheduler drives it, one forward pass at a time, so that every step can
be shown, interleaved with other fills', or be the last. All on the core's thread.
"""

from __future__ import annotations

from typing import Protocol

from attrs import frozen

from engine.protocol import Candidate, Fill, Limits, Model, Reason, Span


class DenoiserError(Exception):
    """A checkpoint can't be used. The message names the cause and the fix."""


@frozen
class Progress:
    """What one `advance` did."""

    frame: tuple[Span, ...] | None = None
    """The region's text after a denoising step; None after prefill and ranking."""
    reason: Reason | None = None
    """Set by the last step: nothing is left to do."""


@frozen
class Counts:
    """Figures of one fill so far."""

    n_steps: int = 0
    n_forward_passes: int = 0
    n_prompt_tokens: int = 0
    n_reused_tokens: int = 0
    prefill_ms: float = 0.0
    denoise_ms: float = 0.0
    rank_ms: float = 0.0
    forward_ms: float = 0.0


class Denoising(Protocol):
    """One fill at work."""

    def advance(self) -> Progress:
        """Run one forward pass at most: a chunk of prefill, a denoising step, or the ranking."""
        ...

    def candidates(self) -> tuple[Candidate, ...]:
        """The answers as they stand, best first. May be asked at any time: at a deadline, say.

        Of a text that is still being made, only whole lines that will not change any more are an answer.
        """
        ...

    @property
    def counts(self) -> Counts:
        """Figures so far."""
        ...

    def close(self) -> None:
        """Let go of memory. Called once, however it ended."""
        ...


class CacheFigures(Protocol):
    """What the prefix cache holds now."""

    @property
    def n_bytes(self) -> int: ...

    @property
    def n_tokens(self) -> int: ...

    def clear(self) -> None:
        """Drop what nobody uses: memory is short."""
        ...


class Denoiser(Protocol):
    """A loaded model."""

    @property
    def model(self) -> Model:
        """What it is."""
        ...

    @property
    def limits(self) -> Limits:
        """What a fill may ask for."""
        ...

    @property
    def cache(self) -> CacheFigures:
        """The prefix cache."""
        ...

    def open(self, fill: Fill) -> Denoising:
        """Begin a fill: tokenize, lay out the prompt, look the prefix up. No forward pass."""
        ...
