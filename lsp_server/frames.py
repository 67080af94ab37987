"""The preview of one fill on its way to the editor. Owns: how often frames go out, and which is the last.

Must not know: the engine's client, documents. Runs in the event loop. At most twelve frames a second, always the
newest; exactly one final frame, of what the request answers with; nothing once closed or once the document moved on.
Frames are shaped as the final text is, and never have fewer rows than the one before, so nothing jumps at the end or
in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs
from lsprotocol import types

from engine.protocol import Frame, Span
from lsp_server.line_ends import from_model
from lsp_server.protocol_types import FrameParams, FrameSpan

FRAME_INTERVAL_S: Final = 1 / 12


@attrs.frozen
class FrameTarget:
    """Where the frames of one request belong."""

    token: types.ProgressToken
    uri: str
    version: int
    range: types.Range
    line_end: str
    lead: str = ""
    """What every text begins with."""


class FrameStream:
    """Frames of one request."""

    def __init__(
        self,
        target: FrameTarget,
        send: Callable[[FrameParams], None],
        is_current: Callable[[], bool],
        shape: Callable[[Sequence[Span]], Sequence[Span]],
    ) -> None:
        self._target = target
        self._send = send
        self._shape = shape
        self._is_current = is_current
        """Whether the document still has the version that the frames belong to."""
        self._n_rows = 0
        self._waiting: Frame | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def show(self, frame: Frame) -> None:
        """Send a frame now, or keep it until its turn comes; a newer one takes its place."""
        if self._closed:
            return
        self._waiting = frame
        if self._timer is None:
            self._flush()

    def finish(self, text: str, step: int) -> None:
        """Send the final frame. The engine's own last frame isn't it: candidates are ranked after the last step."""
        if not self._closed:
            self.close()
            spans = (Span(text, settled=True),) if text else ()
            self._emit(self._params(spans, step, final=True))

    def close(self) -> None:
        """Send nothing from now on."""
        self._closed = True
        self._waiting = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _held(self, spans: Sequence[Span]) -> Sequence[Span]:
        """At least as many rows as before: lines below must not move up and down."""
        n_rows = sum(span.text.count("\n") for span in spans)
        missing, self._n_rows = self._n_rows - n_rows, max(self._n_rows, n_rows)
        return [*spans, Span("\n" * missing, settled=False)] if missing > 0 else spans

    def _flush(self) -> None:
        self._timer = None
        frame, self._waiting = self._waiting, None
        if frame is not None:
            self._emit(self._params(self._held(self._shape(frame.spans)), frame.step, final=False))
            self._timer = asyncio.get_running_loop().call_later(FRAME_INTERVAL_S, self._flush)

    def _emit(self, params: FrameParams) -> None:
        if self._is_current():
            self._send(params)

    def _params(self, spans: Iterable[Span], step: int, final: bool) -> FrameParams:
        target = self._target
        lead = (Span(target.lead, settled=True),) if target.lead else ()
        texts = ((from_model(span.text, target.line_end), span.settled) for span in (*lead, *spans))
        shown = tuple(FrameSpan(*text) for text in texts)
        return FrameParams(target.token, target.uri, target.version, target.range, shown, step, final)
