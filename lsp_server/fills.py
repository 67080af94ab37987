"""Running fills for requests. Owns: the way from a region to the engine and back, whoever asked.

Must not know: pygls' server. Runs in the event loop. Every run ends in an answer for the version that it started from,
or in one of `lsp_server.failures`.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
from attrs import frozen
from lsprotocol import types

from engine.protocol import Fill, Model, Reason, Result
from lsp_server.documents import Document, key_of
from lsp_server.engine_link import EngineLink
from lsp_server.failures import content_modified, request_cancelled
from lsp_server.frames import FrameStream, FrameTarget
from lsp_server.in_flight import InFlight, Kind
from lsp_server.positions import Point
from lsp_server.protocol_types import FrameParams


@frozen
class Region:
    """The span of a document that is filled."""

    start: Point
    end: Point


@frozen
class Asked:
    """One fill to run."""

    document: Document
    region: Region
    fill: Fill
    kind: Kind
    token: types.ProgressToken | None = None
    """Of the frames; None: no frames."""

    def shown(self, result: Result) -> str:
        """The text that the final frame shows, as the answer's first: a completion leaves blank candidates out."""
        texts = [one.text for one in result.candidates if self.kind is Kind.FILL or one.text.strip()]
        return texts[0] if texts else ""


class Fills:
    """Runs fills over the engine link."""

    def __init__(self, link: EngineLink, in_flight: InFlight, send_frame: Callable[[FrameParams], None]) -> None:
        self._link = link
        self._in_flight = in_flight
        self._send_frame = send_frame

    async def run(self, asked: Asked) -> tuple[Result, Model]:
        """Run one. Raises `EngineError`, content-modified or request-cancelled."""
        document, version = asked.document, asked.document.version
        stream = self._stream(asked) if asked.token is not None else None
        fill = attrs.evolve(asked.fill, preview=stream is not None)
        try:
            work = self._link.fill(fill, stream.show if stream is not None else None)
            result, model = await self._in_flight.run(key_of(document.uri), asked.kind, work)
            if document.version != version:
                raise content_modified()
            if result.reason is Reason.CANCELLED:
                raise request_cancelled()
            if stream is not None:
                stream.finish(asked.shown(result), result.n_steps)
            return result, model
        finally:
            if stream is not None:
                stream.close()

    def _stream(self, asked: Asked) -> FrameStream:
        document, region = asked.document, asked.region
        version = document.version
        target = FrameTarget(
            token=asked.token if asked.token is not None else "",
            uri=document.uri,
            version=version,
            range=document.range_of(region.start, region.end),
            line_end=document.line_end_at(region.start.line),
        )
        return FrameStream(target, self._send_frame, lambda: document.version == version)
