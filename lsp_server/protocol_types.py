"""Our own LSP messages: `midfill/fill`, `midfill/frame`, `midfill/status`, `midfill/restart` and what was accepted.

Owns: what travels between an editor's plugin and this server beyond the standard. On the wire the names are camelCase.
docs/protocol.md is made from these types and their docstrings (docs/reference.py).
Must not know: how it is computed.
"""

from __future__ import annotations

from typing import Any, Final

import cattrs
from attrs import fields, frozen
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override
from lsprotocol import types
from pygls.protocol import default_converter

from lsp_server.camel import camel

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
"""Notification to the server: what is shown was refused. It is not offered again unasked."""


@frozen
class FillParams:
    """What to fill. Exactly one of `position` and `range`."""

    text_document: types.OptionalVersionedTextDocumentIdentifier
    """With a version, position or range belong to that one; for another the answer is content-modified."""
    position: types.Position | None = None
    """Where to insert."""
    range: types.Range | None = None
    """The region: its text is replaced. It may span lines."""
    work_done_token: types.ProgressToken | None = None
    """Token of the frames. Without one none are sent."""
    max_tokens: int | None = None
    """Longest text, in tokens; left out: the setting `maxTokens`."""
    max_lines: int | None = None
    """Longest text, in lines; 0 or left out: no limit."""
    alternatives: int | None = None
    """Candidates wanted; left out: one."""
    seed: int | None = None
    """Of the random numbers; the same one gives the same text."""
    deadline_ms: int | None = None
    """The best text by then is the answer; 0 or left out: no deadline."""
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
    """One text for the region."""

    text: str
    """In the document's line ends."""
    score: float
    """The model's own, to compare the candidates of one fill by; higher is better."""
    tokens: int
    """How long it is."""
    steps: int
    """Denoising steps that it took."""
    converged: bool
    """False: the deadline or a limit came first."""


@frozen
class FillResult:
    """The end of a fill."""

    uri: str
    """The document."""
    version: int
    """Document version that `range` and the candidates belong to."""
    range: types.Range
    """The region as it was understood: clamped to the document."""
    candidates: tuple[FillCandidate, ...]
    """Best first."""
    reason: str
    """`converged`, `limit` or `deadline`."""
    steps: int
    """Denoising steps, in all."""
    forward_passes: int
    """Passes of the model that these took."""
    frames: int
    """Frames that the engine made; fewer may have been sent."""
    prompt_tokens: int
    """What the model read."""
    reused_tokens: int
    """Those of them that were in its cache."""
    model: str
    """Who answered."""
    note: str
    """What this model is good for, in one honest sentence; to be shown beside results."""
    timings_ms: dict[str, float]
    """Where the time went, in milliseconds."""


@frozen
class FrameSpan:
    """A run of text of one kind."""

    text: str
    """In the document's line ends."""
    settled: bool
    """False: tentative; drawn dimmed and never accepted."""


@frozen
class FrameParams:
    """One frame."""

    token: types.ProgressToken
    """The `workDoneToken` of the request that the frame belongs to."""
    uri: str
    """The document."""
    version: int
    """Its version; drop a frame that is for another."""
    range: types.Range
    """The region that the spans stand in place of."""
    spans: tuple[FrameSpan, ...]
    """The text of the whole region, in order."""
    step: int
    """The denoising step that it comes from."""
    final: bool
    """Exactly one frame of a fill that ends well is final; it holds the best candidate. None comes after it."""


@frozen
class Recent:
    """What became of one of the last requests for completion."""

    language: str
    """Of the document."""
    invoked: bool
    """Asked for by hand."""
    source: str
    """`engine`, `session` (typed through), `prefetch` (begun before it was asked for) or `none`."""
    nothing: str | None
    """Why nothing was shown, one of the reasons below; null when something was."""
    latency_ms: float
    """From the request to its answer."""


@frozen
class Status:
    """How things stand with the engine."""

    state: str
    """One of the states below."""
    message: str
    """For a person; empty when all is well."""
    model: str | None = None
    """Who runs; the following are there when it does."""
    note: str | None = None
    """What this model is good for, in one honest sentence."""
    engine_version: str | None = None
    """Of the engine, which may be older than this server."""
    engine_pid: int | None = None
    """Of the engine's process."""
    recent: tuple[Recent, ...] = ()
    """The last requests for completion, oldest first. Empty in notifications."""


@frozen
class DidAcceptParams:
    """What was accepted of the suggestion that is shown in a document."""

    text_document: types.TextDocumentIdentifier
    """The document."""
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
    """The document."""


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


def make_converter() -> cattrs.Converter:
    """pygls' converter, which also knows our messages."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]
    for cls in (*_OURS, *_OURS_IN):
        names: dict[str, Any] = {field.name: override(rename=camel(field.name)) for field in fields(cls)}
        converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **names))
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **names))
    return converter
