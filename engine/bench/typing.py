"""A keystroke replay: real code, typed back at a person's pace against the real `midfill-lsp`.

Owns: what an editor sends at each key, what must hold for everything that comes back, and the figures. Must not know:
what is typed (`typist`), which engine answers. After each key the editor asks for the server's status too: that answer
comes behind all that the key caused, so its time is the most that the server can have needed to handle the key; and
what comes behind it for an older version of the text is stale beyond doubt, not merely crossed on the way.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
from attrs import Factory, define, frozen

from engine.bench.language_server import LanguageServer
from engine.bench.placement import position_of, suggested
from engine.bench.typist import Edit, Typist

_KEY_MS: Final = (30.0, 120.0)
_WAITS: Final = 0.05
"""How likely somebody waits for a suggestion, at a key."""
_CANCELS: Final = 0.7
"""How likely the editor takes back its former request: some never do."""
_PATIENCE_S: Final = 4.0
_OVERTAKEN: Final = (-32800, -32801)
"""RequestCancelled, ContentModified."""
_KEYS_A_FILE: Final = 400


@frozen
class Pace:
    """How much is typed, and how quickly."""

    n_keys: int
    n_editors: int = 1
    """Each with a server of its own; all at one engine."""
    speed: float = 1.0
    """1: a key every 30 to 120 ms."""
    seed: int = 0


@define(eq=False)
class Replay:
    """What came of it."""

    n_keys: int = 0
    n_shown: int = 0
    """Answers with a suggestion for the text as it was then."""
    n_frames: int = 0
    n_accepted: int = 0
    n_typed_through: int = 0
    n_overtaken: int = 0
    """Requests that ended as cancelled or outdated."""
    n_crossed: int = 0
    """Answers that were on the way while the next key was: an editor drops them."""
    n_stale: int = 0
    """Answers and frames for an older text, sent by a server that had the newer one."""
    n_misplaced: int = 0
    """Suggestions that do not fit the text that they were asked for."""
    n_doubled: int = 0
    """Second answers to a request, and frames behind its answer."""
    n_failed: int = 0
    """Requests that ended with any other error."""
    n_lost: int = 0
    """Requests without an end, and files that are not as they were."""
    handled_ms: list[float] = Factory(list)
    """For each key: until the server had handled all of it, with the ways there and back."""
    busy_ms: list[float] = Factory(list)
    """For each key: how long the server's event loop worked, since the key before was handled."""
    shown_ms: list[float] = Factory(list)
    """From a request to its suggestion."""
    halfway_mb: list[float] = Factory(list)
    """Memory of each server when half is typed: its caches are full then, and what is added until the end is a leak."""
    end_mb: list[float] = Factory(list)

    def counts(self) -> dict[str, int]:
        """All counts by name."""
        names = [name for name in attrs.fields_dict(Replay) if name.startswith("n_")]
        return {name.removeprefix("n_"): getattr(self, name) for name in names} | {"wrong": self.n_wrong}

    @property
    def n_wrong(self) -> int:
        """All that must not be."""
        return self.n_stale + self.n_misplaced + self.n_doubled + self.n_failed + self.n_lost


async def replay(
    sources: Sequence[str], pace: Pace, options: Any = None, environment: Mapping[str, str] | None = None
) -> Replay:
    """Type. `options` are the server's settings. Raises `OSError` when a server ends."""
    found = Replay()
    rng = random.Random(pace.seed)
    share = -(-pace.n_keys // pace.n_editors)
    try:
        async with asyncio.TaskGroup() as group:
            for start in range(0, pace.n_keys, share):
                editor = _Editor(found, random.Random(rng.random()), pace.speed)
                n_keys = min(share, pace.n_keys - start)
                group.create_task(editor.run(list(sources), n_keys, options, environment))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return found


@define(eq=False)
class _Asked:
    """A request for completion under way, or ended."""

    version: int
    text: str
    cursor: int
    sent_s: float
    request: int = 0
    ended: bool = False


class _Editor:
    """One window: one server, one file after the other."""

    def __init__(self, found: Replay, rng: random.Random, speed: float) -> None:
        self._found, self._rng, self._speed = found, rng, speed
        self._uri = ""
        self._version = 0
        self._handled = 0
        """The newest version that the server is known to have."""
        self._asked: dict[int, _Asked] = {}
        """By version, which is also the token of the frames."""
        self._newest: _Asked | None = None
        self._suggestion: Edit | None = None
        self._news = asyncio.Event()
        self._busy_ms = 0.0
        """Of the server, when the key before was handled."""
        self._server: LanguageServer

    async def run(self, sources: list[str], n_keys: int, options: Any, environment: Mapping[str, str] | None) -> None:
        """Type `n_keys`."""
        found = self._found
        self._server = server = await LanguageServer.start(options, environment)
        server.on_notification = self._take_notification
        halfway_mb = 0.0
        try:
            self._rng.shuffle(sources)
            for n_done in range(0, n_keys, _KEYS_A_FILE):
                n_now = min(_KEYS_A_FILE, n_keys - n_done)
                await self._type_file(sources[n_done // _KEYS_A_FILE % len(sources)], n_now)
                if not halfway_mb and n_done + n_now >= n_keys / 2:
                    halfway_mb = server.resident_mb()
            found.halfway_mb.append(halfway_mb)
            found.end_mb.append(server.resident_mb())
            found.n_doubled += server.n_doubled
        finally:
            await server.stop()

    async def _type_file(self, source: str, n_keys: int) -> None:
        typist = Typist(source, self._rng)
        self._uri = f"file:///bench/{self._rng.getrandbits(32):x}.py"
        self._version += 1
        document = {"uri": self._uri, "languageId": "python", "version": self._version, "text": source}
        self._server.notify("textDocument/didOpen", {"textDocument": document})
        self._busy_ms = self._server.busy_ms()
        for _ in range(n_keys):
            before, suggestion, n_accepted = typist.text, self._suggestion, typist.n_accepted
            edit = typist.key(suggestion)
            if typist.n_accepted > n_accepted:
                accepted = {"textDocument": {"uri": self._uri}, "accepted": "all"}
                self._server.notify("midfill/didAccept", accepted)
            self._key(before, edit, typist)
            self._found.n_keys += 1
            await self._pause()
        for before, edit in _with_texts(typist):
            self._change(before, edit)
        self._end_request()
        await self._server.request("midfill/status", None)
        self._handled = self._version
        await self._server.request("midfill/status", None)  # all answers have come before this one
        self._found.n_lost += sum(not one.ended for one in self._asked.values()) + (typist.text != source)
        self._found.n_accepted += typist.n_accepted
        self._found.n_typed_through += typist.n_typed_through
        self._server.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})
        self._asked.clear()
        self._newest = self._suggestion = None

    def _key(self, before: str, edit: Edit, typist: Typist) -> None:
        """What an editor does at a key."""
        self._change(before, edit)
        if self._rng.random() < _CANCELS:
            self._end_request()
        asked = _Asked(self._version, typist.text, typist.cursor, time.perf_counter())
        self._asked[self._version] = self._newest = asked
        params = {
            "textDocument": {"uri": self._uri},
            "position": position_of(typist.text, typist.cursor),
            "context": {"triggerKind": 2},
            "workDoneToken": asked.version,
        }
        asked.request = self._server.ask(
            "textDocument/inlineCompletion", params, lambda result, error: self._take_answer(asked, result, error)
        )

        def handled(result: Any, error: Any) -> None:
            self._handled = asked.version
            self._found.handled_ms.append((time.perf_counter() - asked.sent_s) * 1000)
            before_ms, self._busy_ms = self._busy_ms, self._server.busy_ms()
            self._found.busy_ms.append(self._busy_ms - before_ms)

        self._server.ask("midfill/status", None, handled)

    def _change(self, before: str, edit: Edit) -> None:
        self._version += 1
        self._suggestion = None
        place = {"start": position_of(before, edit.start), "end": position_of(before, edit.end)}
        identifier = {"uri": self._uri, "version": self._version}
        changes = [{"range": place, "text": edit.text}]
        self._server.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})

    def _end_request(self) -> None:
        if self._newest is not None and not self._newest.ended:
            self._server.notify("$/cancelRequest", {"id": self._newest.request})

    async def _pause(self) -> None:
        newest = self._newest
        assert newest is not None
        if self._rng.random() < _WAITS and not newest.ended:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), _PATIENCE_S)
            except TimeoutError:
                return
        await asyncio.sleep(self._rng.uniform(*_KEY_MS) / 1000 / self._speed)

    def _take_answer(self, asked: _Asked, result: Any, error: Any) -> None:
        found = self._found
        asked.ended = True
        if asked is self._newest:
            self._news.set()
        if error is not None:
            found.n_overtaken += error["code"] in _OVERTAKEN
            found.n_failed += error["code"] not in _OVERTAKEN
            return
        items = (result or {}).get("items", [])
        suggestions = [suggested(item, asked.text, asked.cursor) for item in items]
        found.n_misplaced += suggestions.count(None)
        if not items:
            return
        if asked.version < self._handled:
            found.n_stale += 1
        elif asked is not self._newest or asked.version != self._version:
            found.n_crossed += 1
        else:
            found.n_shown += 1
            found.shown_ms.append((time.perf_counter() - asked.sent_s) * 1000)
            self._suggestion = suggestions[0]

    def _take_notification(self, method: str, params: Any) -> None:
        if method == "midfill/frame":
            self._found.n_frames += 1
            asked = self._asked.get(params["token"])
            if asked is None or params["uri"] != self._uri or params["version"] < self._handled:
                self._found.n_stale += 1
            elif asked.ended:
                self._found.n_doubled += 1
            elif params["version"] != asked.version:
                self._found.n_misplaced += 1


def _with_texts(typist: Typist) -> list[tuple[str, Edit]]:
    """The edits that finish a file, each with the text before it."""
    text, edits = typist.text, []
    for edit in typist.finish():
        edits.append((text, edit))
        text = edit.of(text)
    return edits
