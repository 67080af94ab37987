"""Plays one scenario on a real server. Owns: what each step does, and what must hold in every scenario.

Must not know: single scenarios.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from lsprotocol import types

from engine.protocol import Cancel as CancelMessage
from engine.protocol import Fill
from tests.clients.desk import Desk, cell_uri
from tests.conformance import steps
from tests.conformance.buffer import Buffer, text_of
from tests.conformance.checks import check_frames, check_items, visible
from tests.conformance.house import House
from tests.conformance.scenario import Play, Scenario
from tests.engine_script import Answer, Until
from tests.engine_script import Step as EngineStep
from tests.lsp.editor import Ask, Automatic, Invoked

_CHECK: Final = 987_654
"""The seed of fills that the stage asks for to look behind the scene."""
_numbers = itertools.count(1)


class Stage:
    """One scenario under way."""

    def __init__(self, house: House, desk: Desk, scenario: Scenario, workspace: Path) -> None:
        self.house, self.desk, self.scenario, self.workspace = house, desk, scenario, workspace
        self.engine = house.engine
        self.number = next(_numbers)
        self.buffers: dict[str, Buffer] = {}
        self.buffer: Buffer
        self.cells: list[str] = []
        """Names of the cells of the notebook that is open."""
        self.asked: dict[str, tuple[Ask, Buffer]] = {}
        """With the document as it was then."""
        self.shown: Sequence[types.InlineCompletionItem] = ()
        self.events: dict[str, asyncio.Event] = {}
        self.n_messages = len(desk.client.messages)
        self.n_frames = len(desk.frames)
        self.n_hellos = self.engine.n_hellos
        self.plays = [self._script(play) for play in scenario.plays]

    async def play(self) -> None:
        """All of it."""
        self.engine.otherwise = self._otherwise
        scenario = self.scenario
        if scenario.buffer:
            await self._do(steps.Open(scenario.path, scenario.buffer, scenario.language))
        for step in scenario.steps:
            try:
                await self._do(step)
            except AssertionError as error:
                error.add_note(f"at {step}")
                raise
            except TimeoutError:
                raise AssertionError(f"nothing came at {step}") from None
        await self._check_end()

    # Steps

    async def _do(self, step: steps.Step) -> None:
        async with asyncio.timeout(20):
            await getattr(self, f"_{type(step).__name__.lower()}")(step)

    async def _open(self, step: steps.Open) -> None:
        uri = (self.workspace / step.path).as_uri()
        if uri not in self.buffers:
            self._put(Buffer.of(step.buffer, uri, step.language, self._encoding, self.scenario.line_end))
            self.desk.open(self.buffer.text, uri, step.language)
        self.buffer = self.buffers[uri]

    async def _notebook(self, step: steps.Notebook) -> None:
        with_cursor = None
        for name, language, notation in step.cells:
            self._put(Buffer.of(notation, cell_uri(name), language, self._encoding, self.scenario.line_end))
            if "│" in notation:
                with_cursor = self.buffer
        cells = ((name, language, self.buffers[cell_uri(name)].text) for name, language, _ in step.cells)
        self.desk.open_notebook(*cells)
        self.cells = [name for name, _, _ in step.cells]
        assert with_cursor is not None
        self.buffer = with_cursor

    async def _close(self, _: steps.Close) -> None:
        self.desk.close(self.buffer.uri)
        del self.buffers[self.buffer.uri]

    async def _type(self, step: steps.Type) -> None:
        for key in self._keys(step.text):
            self._change(self.buffer.cursor, self.buffer.cursor, key)

    async def _keystrokes(self, step: steps.Keystrokes) -> None:
        pressed = []
        for key in self._keys(step.text):  # all is made ready first, so that the keys come in quick succession
            change = self.buffer.change(self.buffer.cursor, self.buffer.cursor, key)
            pressed.append((change, self._params(steps.Begin()), attrs.evolve(self.buffer)))
        for change, params, then in pressed:
            self._tell(*change)
            self.asked[f"key {len(self.asked)}"] = (self._request(params), then)
        *overtaken, last = list(self.asked)[-len(pressed) :]
        for name in overtaken:
            ask, then = self.asked[name]
            if (code := await ask.error_code()) is None:
                answer = await ask.answer
                check_items([] if answer is None else answer.items, then)
            else:
                assert code in steps.STALE
        await self._end(steps.End(last, step.shows))

    async def _insert(self, step: steps.Insert) -> None:
        before, _, after = text_of(step.text, self.scenario.line_end).partition("│")
        cursor = self.buffer.cursor
        self._change(cursor, cursor, before + after, cursor + len(before))

    async def _erase(self, step: steps.Erase) -> None:
        for _ in range(step.n):
            self._change(self.buffer.cursor - 1, self.buffer.cursor, "")

    async def _replace(self, step: steps.Replace) -> None:
        old, new = text_of(step.old, self.scenario.line_end), text_of(step.new, self.scenario.line_end)
        start, cursor = self.buffer.text.index(old), self.buffer.cursor
        if cursor >= start + len(old):
            cursor += len(new) - len(old)
        self._change(start, start + len(old), new, min(cursor, len(self.buffer.text) + len(new) - len(old)))

    async def _move(self, step: steps.Move) -> None:
        text = text_of(step.text, self.scenario.line_end)
        self.buffer.cursor = self.buffer.text.index(text) + (len(text) if step.after else 0)

    async def _undo(self, _: steps.Undo) -> None:
        self._tell(*self.buffer.undo())

    async def _ask(self, step: steps.Ask) -> None:
        name = f"ask {len(self.asked)}"
        await self._begin(steps.Begin(name, step.invoked, step.selected, step.frames))
        await self._end(steps.End(name, step.shows, step.error))

    async def _begin(self, step: steps.Begin) -> None:
        self.asked[step.name] = (self._request(self._params(step)), attrs.evolve(self.buffer))

    async def _end(self, step: steps.End) -> None:
        ask, then = self.asked[step.name]
        codes = (step.error,) if isinstance(step.error, int) else step.error
        code = await ask.error_code()
        assert code in codes if codes else code is None, f"error {code}"
        frames = [frame for frame in self._frames() if frame.token == self._token(step.name)]
        if code is not None:
            check_frames(frames, then, ended_well=False)
            return
        now = self.buffers.get(then.uri)
        assert now is not None and now.text == then.text, "an answer to a text that is gone"
        answer = await ask.answer
        self.shown = [] if answer is None else answer.items
        check_items(self.shown, then)
        check_frames(frames, then, ended_well=True)
        if step.shows is not steps.ANYTHING:
            expected = () if step.shows is None else (step.shows,) if isinstance(step.shows, str) else step.shows
            wanted = [text_of(text, self.scenario.line_end) for text in expected]
            assert [visible(item, then) for item in self.shown] == wanted

    async def _cancel(self, step: steps.Cancel) -> None:
        self.asked[step.name][0].cancel()

    async def _accept(self, step: steps.Accept) -> None:
        assert self.shown, "nothing is shown"
        item = self.shown[step.index]
        text, place = item.insert_text, item.range
        assert isinstance(text, str) and place is not None
        self._change(self.buffer.offset(place.start), self.buffer.offset(place.end), text)
        if item.command is not None:
            await self.desk.command(item.command.command, *(item.command.arguments or ())).answer

    async def _reject(self, _: steps.Reject) -> None:
        self.desk.client.protocol.notify("midfill/didReject", {"textDocument": {"uri": self.buffer.uri}})

    async def _configure(self, step: steps.Configure) -> None:
        self.desk.configure({"midfill": step.settings})

    async def _write(self, step: steps.Write) -> None:
        path = self.workspace / step.path
        kind = types.FileChangeType.Changed if path.exists() else types.FileChangeType.Created
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        change = types.DidChangeWatchedFilesParams([types.FileEvent(path.as_uri(), kind)])
        self.desk.client.workspace_did_change_watched_files(change)

    async def _go(self, step: steps.Go) -> None:
        self._event(step.name).set()

    async def _kill(self, _: steps.Kill) -> None:
        await self.engine.stop()
        self.engine.start()

    async def _remove(self, _: steps.Remove) -> None:
        await self.engine.leave()

    async def _swap(self, step: steps.Swap) -> None:
        await self.engine.stop()
        self.engine.model = attrs.evolve(self.engine.model, name=step.model)
        self.engine.start()

    async def _refuse(self, step: steps.Refuse) -> None:
        await self.engine.finish_loading(step.why)

    async def _reached(self, step: steps.Reached) -> None:
        await self.engine.until(lambda: len(self._fills_so_far()) >= step.n)

    async def _shown(self, step: steps.Shown) -> None:
        await self.desk.until(lambda: len(self._frames()) >= step.n)

    async def _state(self, step: steps.State) -> None:
        await self.desk.until_status(step.state)

    async def _reads(self, step: steps.Reads) -> None:
        expected = text_of(step.text, self.scenario.line_end)
        assert (self.buffer.notation if "│" in expected else self.buffer.text) == expected

    async def _fills(self, step: steps.Fills) -> None:
        await self._settle()
        assert len(self._fills_so_far()) == step.n

    async def _fillsatmost(self, step: steps.FillsAtMost) -> None:
        await self._settle()
        assert len(self._fills_so_far()) <= step.n

    async def _cancels(self, step: steps.Cancels) -> None:
        await self.engine.until(lambda: self._n_cancels() >= step.n)
        await self._settle()
        assert self._n_cancels() == step.n

    async def _prompt(self, step: steps.Prompt) -> None:
        fill = self._fills_so_far()[-1]
        if step.prefix is not None:
            assert fill.prefix[-len(step.prefix) :] == text_of(step.prefix)
        if step.suffix is not None:
            assert fill.suffix[: len(step.suffix)] == text_of(step.suffix)
        for text in step.has:
            assert text_of(text) in _everything(fill)
        for text in step.lacks:
            assert text_of(text) not in _everything(fill)
        assert {name: getattr(fill, name) for name in step.fields} == step.fields

    async def _learned(self, step: steps.Learned) -> None:
        """The server says nothing when it has gathered context: open the document anew until it shows."""
        buffer = self.buffer
        while True:
            for _ in range(5):
                await self._ask(steps.Ask(invoked=True))
                if step.text in _everything(self._fills_so_far()[-1]):
                    return
            await self._close(steps.Close())
            self._put(buffer)
            self.desk.open(buffer.text, buffer.uri, buffer.language)

    async def _messages(self, step: steps.Messages) -> None:
        messages = self.desk.client.messages[self.n_messages :]
        assert len(messages) == step.n, [message.message for message in messages]
        assert not step.holds or step.holds in messages[-1].message

    async def _rows(self, step: steps.Rows) -> None:
        frames = self._frames()
        assert len(frames) <= step.at_most
        n_rows = [sum(span.text.count("\n") for span in frame.spans) for frame in frames if not frame.final]
        assert n_rows == sorted(n_rows), "rows come and go"
        if step.last is not None:
            assert "".join(span.text for span in frames[-1].spans) == text_of(step.last, self.scenario.line_end)
            assert frames[-1].final

    async def _reasons(self, step: steps.Reasons) -> None:
        status = await self.desk.request("midfill/status").answer
        assert tuple(one.nothing for one in status.recent[-len(step.why) :]) == step.why

    async def _restarts(self, step: steps.Restarts) -> None:
        assert self.engine.n_hellos - self.n_hellos - 1 <= step.at_most

    # What must hold in every scenario

    async def _check_end(self) -> None:
        for name, (ask, _) in self.asked.items():
            assert ask.answer.done(), f"{name} was never answered"
        if not self.scenario.messages:
            await self._messages(steps.Messages(0))
        if self.engine.is_up and self.scenario.same_text:
            for uri, buffer in self.buffers.items():
                await self._check_text(uri, buffer)
        if self.cells:
            self.desk.close_notebook(*self.cells)
        for uri in set(self.buffers) - set(map(cell_uri, self.cells)):
            self.buffer = self.buffers[uri]
            await self._close(steps.Close())
        if self.engine.is_up:
            await self.engine.until(lambda: not any(self._is_mine(fill) for fill in self.engine.open_fills))

    async def _check_text(self, uri: str, buffer: Buffer) -> None:
        """Whether the server's text is the editor's."""
        n_before = len(self.engine.so_far(Fill))
        await self.desk.fill(0, 0, uri=uri, seed=_CHECK).answer
        (fill,) = [one for one in self.engine.so_far(Fill)[n_before:] if one.seed == _CHECK]
        text = buffer.text.replace("\r\n", "\n").replace("\r", "\n")
        told = fill.suffix[: len(text)]  # other cells of a notebook may follow
        assert text.startswith(told) and (len(told) > 8000 or told == text)

    # Behind the scene

    async def _settle(self) -> None:
        """Wait until the server has taken what was sent, and the engine what the server has sent."""
        async with asyncio.timeout(20):
            uri = f"untitled:settle-{self.number}"
            if uri not in self.desk._versions:
                self.desk.open("", uri, "plaintext")
            await self.desk.fill(0, 0, uri=uri, seed=_CHECK).answer

    def _params(self, step: steps.Begin) -> types.InlineCompletionParams:
        """A request at the cursor. A menu's item would replace the word before it."""
        buffer = self.buffer
        place = buffer.position(buffer.cursor)
        selected = None
        if step.selected:
            start = buffer.cursor
            while start and (buffer.text[start - 1].isalnum() or buffer.text[start - 1] == "_"):
                start -= 1
            selected = types.SelectedCompletionInfo(types.Range(buffer.position(start), place), step.selected)
        return types.InlineCompletionParams(
            context=types.InlineCompletionContext(Invoked if step.invoked else Automatic, selected),
            text_document=types.TextDocumentIdentifier(buffer.uri),
            position=place,
            work_done_token=self._token(step.name) if step.frames else None,
        )

    def _request(self, params: types.InlineCompletionParams) -> Ask:
        return self.desk.request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params)

    def _keys(self, notation: str) -> list[str]:
        """A line end is one key."""
        return [self.scenario.line_end if key == "⏎" else text_of(key) for key in notation]

    def _put(self, buffer: Buffer) -> None:
        self.buffers[buffer.uri] = self.buffer = buffer

    def _change(self, start: int, end: int, new: str, cursor: int | None = None) -> None:
        self._tell(*self.buffer.change(start, end, new, cursor))

    def _tell(self, place: types.Range, new: str) -> None:
        start, end = (place.start.line, place.start.character), (place.end.line, place.end.character)
        self.desk.replace(start, end, new, self.buffer.uri)

    def _frames(self) -> list[Any]:
        return self.desk.frames[self.n_frames :]

    def _token(self, name: str) -> str:
        return f"{self.number} {name}"

    @property
    def _encoding(self) -> str:
        return str(self.desk.capabilities.position_encoding or "utf-16")

    def _is_mine(self, fill: Fill) -> bool:
        return fill.seed != _CHECK and fill.uri.startswith((self.workspace.as_uri(), "vscode-notebook-cell:"))

    def _fills_so_far(self) -> list[Fill]:
        return [fill for fill in self.engine.so_far(Fill) if self._is_mine(fill)]

    def _n_cancels(self) -> int:
        mine = {fill.request_id for fill in self._fills_so_far()}
        return sum(cancel.request_id in mine for cancel in self.engine.so_far(CancelMessage))

    def _event(self, name: str) -> asyncio.Event:
        return self.events.setdefault(name, asyncio.Event())

    def _otherwise(self, fill: Fill) -> Sequence[EngineStep]:
        if fill.seed == _CHECK or not self._is_mine(fill):
            return [Answer.of("")]
        return self.plays.pop(0) if self.plays else self._script(self.scenario.otherwise)

    def _script(self, play: Play) -> Sequence[EngineStep]:
        if isinstance(play, str):
            return [Answer.of(text_of(play))]
        if isinstance(play, tuple):
            return [Answer.of(*map(text_of, play))]
        return [Until(self._event(step.name)) if isinstance(step, steps.Hold) else step for step in play]


def _everything(fill: Fill) -> str:
    return "\n".join([*(snippet.text for snippet in fill.snippets), fill.prefix, fill.suffix])
