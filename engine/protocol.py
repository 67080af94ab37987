"""Message types between the editors' server and the engine, and their packing.

Owns: what travels on the socket. Must not know: sockets, torch, documents. Imports nothing heavy.
Every message is a frozen attrs class. On the wire it is one msgpack map: `protocol` (the version), `type`, and the
fields. Decoding is strict: a wrong type, an unknown field or version, or too many bytes raise `ProtocolError`.
"""

from __future__ import annotations

import enum
from typing import Any, Final, get_args, get_origin

import cattrs
import msgpack
from attrs import fields, frozen

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
    """Texts that may turn out right, for example the previous suggestion. They cost nothing when wrong."""
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

REQUESTS: Final[dict[str, type[Any]]] = {
    "hello": Hello,
    "fill": Fill,
    "cancel": Cancel,
    "status": Status,
    "shutdown": Shutdown,
}
REPLIES: Final[dict[str, type[Any]]] = {
    "welcome": Welcome,
    "loading": Loading,
    "frame": Frame,
    "result": Result,
    "error": Failure,
    "status_report": StatusReport,
}
_NAMES: Final = {cls: name for name, cls in (*REQUESTS.items(), *REPLIES.items())}


class ProtocolError(ValueError):
    """A message could not be read. `request_id` is filled in where the message still told it."""

    def __init__(self, code: ErrorCode, message: str, request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


def _strict(kind: type) -> Any:
    """A structure hook that takes exactly `kind`: cattrs would turn 5 into "5" and "5" into 5."""

    def structure(value: object, _: object) -> object:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")

    return structure


_converter = cattrs.Converter(forbid_extra_keys=True)


def _register(kind: type) -> None:
    """Register by identity: a hook by class would also catch the enums, which subclass str and int."""

    def is_kind(asked: Any) -> bool:
        return asked is kind

    _converter.register_structure_hook_func(is_kind, _strict(kind))


for _kind in (str, int, float, bool):
    _register(_kind)


def _strict_tuple(kind: Any) -> Any:
    """As `_strict`, for `tuple[X, ...]`: cattrs would take any iterable, so a string too."""
    (item, _) = get_args(kind)

    def structure(value: object, _: object) -> object:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return tuple(_converter.structure(one, item) for one in value)

    return structure


def _is_tuple(kind: Any) -> bool:
    origin: object = get_origin(kind)
    return origin is tuple


_converter.register_structure_hook_factory(_is_tuple, _strict_tuple)


def pack(message: Message) -> bytes:
    """Message to bytes."""
    body = _converter.unstructure(message)
    return bytes(msgpack.packb({"protocol": PROTOCOL, "type": _NAMES[type(message)], **body}))


def unpack_request(data: bytes) -> Request:
    """Bytes that a client sent to a message. Raises `ProtocolError`."""
    message: Request = _unpack(data, REQUESTS)
    return message


def unpack_reply(data: bytes) -> Reply:
    """Bytes that the engine sent to a message. Raises `ProtocolError`."""
    message: Reply = _unpack(data, REPLIES)
    return message


def _unpack(data: bytes, types: dict[str, type[Any]]) -> Any:
    if len(data) > MAX_MESSAGE_BYTES:
        raise ProtocolError(ErrorCode.TOO_LARGE, f"message of {len(data)} bytes; at most {MAX_MESSAGE_BYTES} are taken")
    try:
        body = msgpack.unpackb(data)
    except Exception as error:  # msgpack raises many kinds; all mean the same to the sender
        raise ProtocolError(ErrorCode.BAD_MESSAGE, f"not msgpack: {type(error).__name__}") from None
    if not isinstance(body, dict):
        raise ProtocolError(ErrorCode.BAD_MESSAGE, "a message is a map with `protocol` and `type`")
    request_id = body.get("request_id")
    known_id = request_id if isinstance(request_id, str) and len(request_id) <= 200 else ""
    version = body.pop("protocol", None)
    if type(version) is not int or version != PROTOCOL:
        raise ProtocolError(
            ErrorCode.UNKNOWN_PROTOCOL,
            f"this side speaks protocol {PROTOCOL}; update the older of `midfill` and the editor's server",
            known_id,
        )
    name = body.pop("type", None)
    cls = types.get(name) if isinstance(name, str) else None
    if cls is None:
        raise ProtocolError(ErrorCode.BAD_MESSAGE, f"unknown type; known are {', '.join(types)}", known_id)
    try:
        return _converter.structure(body, cls)
    except Exception as error:  # cattrs groups the causes; name the fields, never their contents
        raise ProtocolError(ErrorCode.BAD_MESSAGE, f"{name}: {_cause(error, cls)}", known_id) from None


def _cause(error: BaseException, cls: type[Any]) -> str:
    names = {field.name for field in fields(cls)}
    causes = cattrs.transform_error(error) if isinstance(error, cattrs.BaseValidationError) else []
    told = "; ".join(causes[:3])[:300]
    return told or f"fields do not fit; known are {', '.join(sorted(names))}"
