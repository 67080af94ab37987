"""Answers to requests for completion. Owns: the way from a wanted cursor to the texts that are shown, or to the reason
why there are none.

Must not know: LSP messages. Runs in the event loop. While somebody types:
- a shown suggestion answers as long as what is typed agrees with it, without the engine;
- else the engine is asked once the typing pauses (`Rhythm`), for the newest text only; what it does for an older one is
  cancelled by the edit itself;
- when a suggestion has been typed out or accepted, the next one is begun at once, before the editor asks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import attrs
from attrs import frozen
from pygls.exceptions import JsonRpcException

from engine.client import EngineError
from engine.protocol import Priority, Span
from lsp_server.completions.computation import Computation
from lsp_server.completions.judge import Judge
from lsp_server.completions.session import Session
from lsp_server.completions.suggestion import Suggestion
from lsp_server.completions.wanted import Wanted, wanted
from lsp_server.documents import Document, key_of
from lsp_server.engine_fill import fill_around
from lsp_server.engine_link import EngineLink
from lsp_server.fills import frame_stream
from lsp_server.frames import FrameStream
from lsp_server.in_flight import InFlight, Kind
from lsp_server.outcomes import Nothing
from lsp_server.positions import Point
from lsp_server.protocol_types import FrameParams
from lsp_server.shaping import Place, shape, why_not
from lsp_server.surroundings import Surroundings
from lsp_server.usage import Accepted, Decision, Source, Usage

_GRACE_S = 0.25
"""What the way to the engine and back may take on top of a deadline that the engine keeps by itself."""


@frozen
class Answer:
    """What a request is answered with."""

    texts: tuple[str, ...]
    r"""Best first, with `\n` as line end; each begins with the lead."""
    source: Source
    nothing: Nothing | None = None
    """Why there are no texts."""
    model: str = ""
    n_steps: int = 0


@frozen
class Insertion:
    """Text that came into a document."""

    text: str
    r"""With `\n` as line end; empty for a deletion."""
    end: Point


class Completions:
    """Completion in all open documents."""

    def __init__(
        self,
        link: EngineLink,
        in_flight: InFlight,
        send_frame: Callable[[FrameParams], None],
        surroundings: Surroundings,
        usage: Usage,
    ) -> None:
        self._link, self._in_flight, self._send_frame = link, in_flight, send_frame
        self._around, self._usage = surroundings, usage
        self._judge = Judge()
        self._sessions: dict[str, Session] = {}

    async def answer(self, wanted: Wanted) -> Answer:
        """Answer a request. Raises `EngineError`, content-modified, or what cancels the calling task."""
        try:
            answer = await self._answer(wanted)
        except asyncio.CancelledError:
            self._note(wanted, Answer((), "none", Nothing.CANCELLED))
            raise
        except JsonRpcException:
            self._note(wanted, Answer((), "none", Nothing.SUPERSEDED))
            raise
        except EngineError:
            self._note(wanted, Answer((), "none", Nothing.NO_ENGINE))
            raise
        self._note(wanted, answer)
        return answer

    def _note(self, wanted: Wanted, answer: Answer) -> None:
        latency_ms = (asyncio.get_running_loop().time() - wanted.received_s) * 1000
        language = wanted.document.language
        self._usage.note(Decision(language, answer.model, wanted.invoked, answer.source, answer.nothing, latency_ms))

    async def _answer(self, wanted: Wanted) -> Answer:
        document = wanted.document
        key = key_of(document.uri)
        if (why := self._refusal(wanted)) is not None:
            return Answer((), "none", why)
        session = self._session(key)
        stream = self._stream(wanted)
        session.wants_frames, session.gate = stream is not None, wanted.gate or wanted.invoked
        ready, why = session.ready(wanted), session.why_nothing(wanted.cursor)
        try:
            if not wanted.invoked and (ready or why is not None):
                self._in_flight.overtake(key)
                answer = Answer(ready[:1], "session", None if ready else why, _model(session))
            else:
                answer = await self._in_flight.run(key, Kind.COMPLETION, self._made(session, wanted, ready, stream))
            text = next(iter(answer.texts), "")
            if stream is not None:
                stream.finish(text, answer.n_steps)
        finally:
            if stream is not None:
                stream.close()
        session.at = wanted.cursor
        session.screen.show(answer.texts, document.language, answer.model)
        return attrs.evolve(answer, texts=tuple(wanted.lead + text for text in answer.texts))

    def changed(self, document: Document, insertion: Insertion | None) -> None:
        """The document has changed; None: in another way than by one insertion or deletion."""
        session = self._session(key_of(document.uri))
        now_s = asyncio.get_running_loop().time()
        session.rhythm.key(now_s)
        if session.suggestion is None and session.computation is None:
            return
        if insertion is None:
            session.moved_to(None)
            return
        session.screen.insert(insertion.text)
        next_one = wanted(document, insertion.end, now_s=now_s, gate=session.gate)
        session.moved_to(next_one.cursor)
        suggestion = session.suggestion
        typed_out = suggestion is not None and suggestion.is_typed_out(next_one.cursor)
        if typed_out and self._around.config().prefetch and self._refusal(next_one) is None:
            self._begin(session, next_one)

    def forget(self) -> None:
        """The settings have changed: what was found under the old ones says nothing now."""
        for session in self._sessions.values():
            session.forget()

    def closed(self, document_key: str) -> None:
        """The document is gone."""
        session = self._sessions.pop(document_key, None)
        if session is not None:
            session.forget()

    def accepted(self, document: Document, kind: Accepted) -> None:
        """The client tells that what is shown was accepted."""
        session = self._sessions.get(key_of(document.uri))
        if session is not None:
            session.screen.accept(kind)

    def rejected(self, document: Document) -> None:
        """The user wants none of what is shown: offer nothing here until the text changes."""
        session = self._sessions.get(key_of(document.uri))
        if session is not None:
            session.reject()

    def _session(self, key: str) -> Session:
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session(self._usage)
        return session

    def _refusal(self, wanted: Wanted) -> Nothing | None:
        if not wanted.invoked and not self._around.config().completes(wanted.document.language):
            return Nothing.DISABLED
        return self._around.why_excluded(wanted.document)

    async def _made(
        self, session: Session, wanted: Wanted, shown: tuple[str, ...], stream: FrameStream | None
    ) -> Answer:
        """Wait for the pause and for the engine. What is `shown` stays first among the alternatives to it."""
        deadline_ms = self._around.config().deadline_ms
        until = wanted.received_s + deadline_ms / 1000 + _GRACE_S if deadline_ms else None
        try:
            async with asyncio.timeout_at(until):
                computation = session.making(wanted)
                source: Source = "prefetch" if computation is not None else "engine"
                if computation is None:
                    if not wanted.invoked:
                        await asyncio.sleep(session.rhythm.wait_s(asyncio.get_running_loop().time()))
                    computation = self._begin(session, wanted)
                computation.stream = stream
                found = await computation.result()
        except TimeoutError:
            kept = shown[:1] if wanted.invoked else ()  # what is on the screen stays
            return Answer(kept, "session" if kept else "engine", None if kept else Nothing.DEADLINE, _model(session))
        n_most = self._around.config().alternatives if wanted.invoked else 1
        texts = tuple(dict.fromkeys((*(shown[:1] if wanted.invoked else ()), *found.texts)))[:n_most]
        return Answer(texts, source, None if texts else found.nothing, found.model, found.n_steps)

    def _begin(self, session: Session, wanted: Wanted) -> Computation:
        computation = Computation(wanted.cursor, wanted.invoked)
        guess = session.begin(computation)
        computation.start(self._compute(session, computation, wanted, guess))
        return computation

    async def _compute(self, session: Session, computation: Computation, wanted: Wanted, guess: str) -> Suggestion:
        """Ask the engine."""
        config, document = self._around.config(), wanted.document
        spent_ms = round((asyncio.get_running_loop().time() - wanted.received_s) * 1000)
        fill = fill_around(
            document,
            wanted.window,
            self._around.snippets(document, wanted.region.start),
            session=document.uri,
            guesses=(guess,) if guess else (),
            max_tokens=config.max_tokens,
            max_lines=wanted.max_lines,
            n_alternatives=config.alternatives if wanted.invoked else 1,
            deadline_ms=max(1, config.deadline_ms - spent_ms) if config.deadline_ms else 0,
            preview=session.wants_frames,
            priority=Priority.COMPLETION,
        )
        self._judge.prepare(wanted.place)
        result, model = await self._link.fill(fill, computation.show)
        found = await self._judge.suggestion(wanted, result, model, gate=config.gate and wanted.gate)
        session.found(found)
        return found

    def _stream(self, wanted: Wanted) -> FrameStream | None:
        if wanted.token is None:
            return None
        return frame_stream(
            wanted.document,
            wanted.region,
            wanted.token,
            self._send_frame,
            lambda spans: _framed(spans, wanted.place),
            wanted.lead,
        )


def _framed(spans: Sequence[Span], place: Place) -> tuple[Span, ...]:
    """A frame for its place; empty while it only says what follows anyway, which would not be shown in the end."""
    shaped = shape(spans, place)
    why = why_not("".join(span.text for span in shaped), place)
    return () if why is Nothing.FOLLOWS_ALREADY else shaped


def _model(session: Session) -> str:
    return session.suggestion.model if session.suggestion is not None else ""
