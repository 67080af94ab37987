"""Message types between the editors' server and the engine.

Owns: what travels on the socket; `engine.wire` packs it. Must not know: sockets, torch, documents. Imports nothing
heavy. Every message is a frozen attrs class.
"""

from __future__ import annotations

import enum
import math
from typing import Final

from attrs import frozen

PROTOCOL: Final = 1
"""Version of this protocol. A peer that speaks another one gets `ErrorCode.UNKNOWN_PROTOCOL`."""

MAX_MESSAGE_BYTES: Final = 8 * 1024 * 1024
"""Longest message that either side takes, in bytes."""


class Family(enum.StrEnum):
    """How a model is denoised (DESIGN section 3)."""

    UNIFORM = "uniform"
    ABSORBING = "absorbing"
    CAUSAL = "causal"


class Reason(enum.StrEnum):
    """Why a fill stopped."""

    CONVERGED = "converged"
    """The stopping rule held."""
    LIMIT = "limit"
    """The step, token or line budget was used up first."""
    DEADLINE = "deadline"
    CANCELLED = "cancelled"


class Priority(enum.IntEnum):
    """Who goes first; lower numbers go first."""

    COMPLETION = 0
    REWRITE = 1
    BACKGROUND = 2


class ErrorCode(enum.StrEnum):
    """What went wrong, for programs."""

    BAD_MESSAGE = "bad_message"
    UNKNOWN_PROTOCOL = "unknown_protocol"
    TOO_LARGE = "too_large"
    BUSY = "busy"
    """The engine's queue is full."""
    MODEL_UNAVAILABLE = "model_unavailable"
    """The model could not be loaded."""
    OUT_OF_MEMORY = "out_of_memory"
    INTERNAL = "internal"
    ENGINE_GONE = "engine_gone"
    """Made by the client: the engine process went away before it answered."""
    SHUTTING_DOWN = "shutting_down"


class EngineState(enum.StrEnum):
    """State of the engine."""

    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


# Values


@frozen
class Snippet:
    """A piece of another file that the fill may look at."""

    path: str
    text: str


@frozen
class Span:
    """A run of region text of one kind."""

    text: str
    settled: bool
    """True: this text has stopped changing. False: tentative."""


@frozen
class Candidate:
    """One finished text for the region."""

    text: str
    score: float
    """Mean log-probability per token in the causal pass, in nats; higher is better. 0.0 where there is no pass."""
    n_tokens: int
    n_steps: int
    converged: bool

    @property
    def probability(self) -> float:
        """What the model gives the whole text, 0 to 1; 1.0 where there is no causal pass."""
        return math.exp(min(0.0, self.score * self.n_tokens))


@frozen
class Timings:
    """Where the time of one fill went, in milliseconds."""

    queue: float = 0.0
    """From receipt to the first unit of work."""
    prefill: float = 0.0
    first_frame: float = 0.0
    """From receipt to the first frame; 0.0 when no frame was made."""
    denoise: float = 0.0
    rank: float = 0.0
    forward: float = 0.0
    """Inside the model's forward passes, of prefill, denoise and rank together."""
    total: float = 0.0


@frozen
class Model:
    """What runs, as shown wherever results are shown."""

    name: str
    family: Family
    device: str
    dtype: str
    n_parameters: int
    note: str
    """One honest sentence on what this model is good for."""
    instructions: bool = False
    """Follows an instruction in words."""
    scores: bool = True
    """A causal pass ranks the candidates."""
    least_probability: float = 0.0
    """`Candidate.probability` below which a text is not worth showing unasked; 0.0: nobody has measured it."""


@frozen
class Limits:
    """What one message may ask for."""

    message_bytes: int
    region_tokens: int
    alternatives: int
    queue: int
    """Fills that may wait per client."""


# Client -> engine


@frozen
class Hello:
    """First message of a client. The engine answers `Welcome`, or `Loading` now and `Welcome` later."""

    client: str
    pid: int
    """Process id on this machine, or 0. The engine drops the work of a process that has died."""


@frozen
class Fill:
    """Fill the region between `prefix` and `suffix`. Answered by frames (if `preview`), then `Result` or `Failure`."""

    request_id: str
    prefix: str
    suffix: str
    uri: str = ""
    version: int = 0
    """Document version that the answer belongs to."""
    session: str = ""
    """One buffer and cursor. A newer fill of the same client and session cancels the older one. Empty: none."""
    language: str = ""
    path: str = ""
    snippets: tuple[Snippet, ...] = ()
    guesses: tuple[str, ...] = ()
    """Texts that may turn out right, for example the previous suggestion. They cost nothing when wrong. A uniform model
    ranks them beside its own, so that a result may hold more than `n_alternatives` candidates."""
    max_tokens: int = 64
    max_lines: int = 0
    """Stop after this many lines; 0: no limit."""
    n_alternatives: int = 1
    deadline_ms: int = 0
    """Return the best stable answer by then, counted from receipt; 0: none."""
    preview: bool = False
    priority: Priority = Priority.COMPLETION
    seed: int = 0


@frozen
class Cancel:
    """Stop a fill within one denoising step. Its `Result` comes with `Reason.CANCELLED`; no frame comes after that."""

    request_id: str


@frozen
class Status:
    """Ask for a `StatusReport`."""

    request_id: str


@frozen
class Shutdown:
    """Ask the engine to leave. Its socket closes; fills in flight fail with `SHUTTING_DOWN`."""

    request_id: str


# Engine -> client


@frozen
class Welcome:
    """The engine is ready."""

    engine_version: str
    pid: int
    model: Model
    limits: Limits


@frozen
class Loading:
    """The model is being loaded."""

    stage: str
    fraction: float
    """0 to 1."""


@frozen
class Frame:
    """The region's text after a step."""

    request_id: str
    uri: str
    version: int
    session: str
    step: int
    spans: tuple[Span, ...]
    final: bool


@frozen
class Result:
    """The one good end of a fill. `candidates` are ordered, best first; empty when cancelled."""

    request_id: str
    uri: str
    version: int
    session: str
    candidates: tuple[Candidate, ...]
    reason: Reason
    n_steps: int
    n_forward_passes: int
    """Forward passes of the denoiser, over all candidates at once; prefill and ranking not counted."""
    n_frames: int
    n_prompt_tokens: int
    n_reused_tokens: int
    """Prompt tokens whose keys and values were in the prefix cache."""
    model: str
    timings_ms: Timings


@frozen
class Failure:
    """The one bad end of a request, or the answer to a message that could not be read (`request_id` empty)."""

    request_id: str
    code: ErrorCode
    message: str
    retryable: bool


@frozen
class StatusReport:
    """State of the engine now."""

    request_id: str
    state: EngineState
    detail: str
    """Empty when ready; else the stage of loading or the cause of failure."""
    engine_version: str
    pid: int
    uptime_s: float
    model: Model | None
    n_clients: int
    n_running: int
    n_waiting: int
    n_fills: int
    n_failures: int
    cache_bytes: int
    cache_tokens: int
    resident_bytes: int


Request = Hello | Fill | Cancel | Status | Shutdown
Reply = Welcome | Loading | Frame | Result | Failure | StatusReport
Message = Request | Reply
