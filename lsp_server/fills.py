"""Running fills that are asked for by hand. Owns: the way from a region to the engine and back.

Must not know: pygls' server. Runs in the event loop. Every run ends in an answer for the version that it started from,
or in one of `lsp_server.failures`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
from attrs import frozen
from lsprotocol import types

from engine.protocol import Candidate, Fill, Model, Reason, Result, Span
from lsp_server.documents import Document, key_of
from lsp_server.engine_link import EngineLink
from lsp_server.failures import content_modified, left_alone, request_cancelled
from lsp_server.frames import FrameStream, FrameTarget
from lsp_server.in_flight import InFlight, Kind
from lsp_server.positions import Point
from lsp_server.protocol_types import FrameParams
from lsp_server.shaping import Place, shape, shaped_text
from lsp_server.surroundings import Surroundings


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
    token: types.ProgressToken | None = None
    """Of the frames; None: no frames."""

    @property
    def place(self) -> Place:
        """What its texts are shaped for."""
        return Place(self.fill.prefix, self.fill.suffix, self.document.language)


class Fills:
    """Runs fills over the engine link."""

    def __init__(
        self,
        link: EngineLink,
        in_flight: InFlight,
        send_frame: Callable[[FrameParams], None],
        surroundings: Surroundings,
    ) -> None:
        self._link = link
        self._in_flight = in_flight
        self._send_frame = send_frame
        self._around = surroundings

    async def run(self, asked: Asked) -> tuple[Result, Model]:
        """Run one; its candidates come shaped for the place.

        Raises `EngineError`, content-modified, request-cancelled, or request-failed for a file that is left alone.
        """
        document, version = asked.document, asked.document.version
        if (why := self._around.why_excluded(document)) is not None:
            raise left_alone(why)
        place, stream = asked.place, None
        if asked.token is not None:
            stream = frame_stream(
                document, asked.region, asked.token, self._send_frame, lambda spans: shape(spans, place)
            )
        snippets = self._around.snippets(document, asked.region.start)
        fill = attrs.evolve(asked.fill, snippets=snippets, preview=stream is not None)
        try:
            work = self._link.fill(fill, stream.show if stream is not None else None)
            result, model = await self._in_flight.run(key_of(document.uri), Kind.FILL, work)
            if document.version != version:
                raise content_modified()
            if result.reason is Reason.CANCELLED:
                raise request_cancelled()
            result = attrs.evolve(result, candidates=tuple(_shaped(one, place) for one in result.candidates))
            if stream is not None:
                stream.finish(result.candidates[0].text if result.candidates else "", result.n_steps)
            return result, model
        finally:
            if stream is not None:
                stream.close()


def frame_stream(
    document: Document,
    region: Region,
    token: types.ProgressToken,
    send: Callable[[FrameParams], None],
    shape: Callable[[Sequence[Span]], Sequence[Span]],
    lead: str = "",
) -> FrameStream:
    """Frames of a region of a document as it is now."""
    version = document.version
    target = FrameTarget(
        token=token,
        uri=document.uri,
        version=version,
        range=document.range_of(region.start, region.end),
        line_end=document.line_end_at(region.start.line),
        lead=lead,
    )
    return FrameStream(target, send, lambda: document.version == version, shape)


def _shaped(candidate: Candidate, place: Place) -> Candidate:
    return attrs.evolve(candidate, text=shaped_text(candidate.text, place))
