"""Our own LSP messages: `midfill/fill`, `midfill/frame`, `midfill/status`, `midfill/restart`.

Owns: what travels between an editor's plugin and this server beyond the standard. On the wire the names are camelCase.
Must not know: how it is computed.
"""

from __future__ import annotations

from typing import Any, Final

import cattrs
from attrs import fields, frozen
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types
from pygls.protocol import default_converter

FILL: Final = "midfill/fill"
"""Request: fill a position or replace a range, once."""
FRAME: Final = "midfill/frame"
"""Notification to the client: the region's text after a denoising step."""
STATUS: Final = "midfill/status"
"""Request without parameters, answered by a `Status`; and a notification of the same shape when the state changes."""
RESTART: Final = "midfill/restart"
"""Request without parameters: start the engine anew, also after this server has given up on it."""

DID_ACCEPT: Final = "midfill/didAccept"
"""Notification to the server: what is shown was accepted. Mostly the server sees that by itself, from the text."""
DID_REJECT: Final = "midfill/didReject"
"""Notification to the server: what is shown was refused. It is not offered again, and what is begun is stopped."""


@frozen
class FillParams:
    """What to fill. Exactly one of `position` and `range`."""

    text_document: types.OptionalVersionedTextDocumentIdentifier
    """With a version, position or range belong to that one; for another the answer is content-modified."""
    position: types.Position | None = None
    range: types.Range | None = None
    """The region: its text is replaced. It may span lines."""
    work_done_token: types.ProgressToken | None = None
    """Token of the frames. Without one none are sent."""
    max_tokens: int | None = None
    max_lines: int | None = None
    """0: no limit."""
    alternatives: int | None = None
    seed: int | None = None
    deadline_ms: int | None = None
    preview: bool | None = None
    """False: no frames, also where there is a token."""


@frozen
class FillRequest:
    """`midfill/fill`."""

    id: int | str
    params: FillParams
    method: str = FILL
    jsonrpc: str = "2.0"


@frozen
class FillCandidate:
    """One text for the region, in the document's line ends."""

    text: str
    score: float
    tokens: int
    steps: int
    converged: bool


@frozen
class FillResult:
    """The end of a fill."""

    uri: str
    version: int
    """Document version that `range` and the candidates belong to."""
    range: types.Range
    """The region as it was understood: clamped to the document."""
    candidates: tuple[FillCandidate, ...]
    """Best first."""
    reason: str
    """`converged`, `limit` or `deadline`."""
    steps: int
    forward_passes: int
    frames: int
    """Frames that the engine made; fewer may have been sent."""
    prompt_tokens: int
    reused_tokens: int
    model: str
    note: str
    """What this model is good for, in one honest sentence; to be shown beside results."""
    timings_ms: dict[str, float]


@frozen
class FrameSpan:
    """A run of text of one kind."""

    text: str
    settled: bool
    """False: tentative; drawn dimmed and never accepted."""


@frozen
class FrameParams:
    """One frame."""

    token: types.ProgressToken
    uri: str
    version: int
    range: types.Range
    spans: tuple[FrameSpan, ...]
    step: int
    final: bool
    """Exactly one frame of a fill that ends well is final; it holds the best candidate. None comes after it."""


@frozen
class Recent:
    """What became of one of the last requests for completion."""

    language: str
    invoked: bool
    source: str
    """`engine`, `session` (typed through), `prefetch` (begun before it was asked for) or `none`."""
    nothing: str | None
    """Why nothing was shown (`lsp_server.outcomes.Nothing`); none when something was."""
    latency_ms: float


@frozen
class Status:
    """How things stand with the engine."""

    state: str
    """A `lsp_server.engine_link.LinkState`."""
    message: str
    """For a person; empty when all is well."""
    model: str | None = None
    note: str | None = None
    engine_version: str | None = None
    engine_pid: int | None = None
    recent: tuple[Recent, ...] = ()
    """The last requests for completion, oldest first. Empty in notifications."""


@frozen
class DidAcceptParams:
    """What was accepted of the suggestion that is shown in a document."""

    text_document: types.TextDocumentIdentifier
    accepted: str = "all"
    """`all`, `line` or `word`."""


@frozen
class DidAcceptNotification:
    """`midfill/didAccept`."""

    params: DidAcceptParams
    method: str = DID_ACCEPT
    jsonrpc: str = "2.0"


@frozen
class DidRejectParams:
    """Where the suggestion was refused."""

    text_document: types.TextDocumentIdentifier


@frozen
class DidRejectNotification:
    """`midfill/didReject`."""

    params: DidRejectParams
    method: str = DID_REJECT
    jsonrpc: str = "2.0"


_OURS: Final = (FillParams, FillRequest, FillCandidate, FillResult, FrameSpan, FrameParams, Recent, Status)
_OURS_IN: Final = (DidAcceptParams, DidAcceptNotification, DidRejectParams, DidRejectNotification)
REQUEST_TYPES: Final[dict[str, type[Any]]] = {
    FILL: FillRequest,
    DID_ACCEPT: DidAcceptNotification,
    DID_REJECT: DidRejectNotification,
}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def make_converter() -> cattrs.Converter:
    """pygls' converter, which also knows our messages."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]
    for cls in (*_OURS, *_OURS_IN):
        names: dict[str, Any] = {field.name: override(rename=_camel(field.name)) for field in fields(cls)}
        converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **names))
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **names))
    return converter
