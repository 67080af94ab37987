"""`midfill/fill`, `midfill/status` and `midfill/restart` through the real server process, with a scripted engine."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.protocol import Cancel, ErrorCode, Fill, Reason
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import CANCELLED, FAILED, INVALID, MODIFIED, URI, text_of
from tests.scripted_engine import NOTE, Answer, Fail, ScriptedEngine, Show, Stall, Until


async def test_fill_at_a_position(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("def f():\r\n    \r\n")
    go = asyncio.Event()
    engine.scripts.append([Show("ret", "urn"), Until(go), Answer(("a\nb", "c"), Reason.LIMIT)])
    more = {"maxTokens": 9, "maxLines": 2, "alternatives": 2, "seed": 7, "deadlineMs": 5000}
    ask = editor.fill(1, 4, workDoneToken=5, **more)
    await editor.until_frames(1)
    go.set()
    result = await ask.answer
    assert [candidate.text for candidate in result.candidates] == ["a\r\n    b", "c"]
    assert (result.uri, result.version, result.reason, result.model, result.note) == (
        URI,
        1,
        "limit",
        "scripted",
        NOTE,
    )
    assert (result.range.start.line, result.range.start.character) == (1, 4)
    assert (result.steps, result.forwardPasses, result.frames) == (2, 2, 2)
    assert result.timingsMs.total == 1.0
    assert result.candidates[1].score == -0.5
    (fill,) = engine.so_far(Fill)
    assert (fill.max_tokens, fill.max_lines, fill.n_alternatives, fill.seed, fill.deadline_ms) == (9, 2, 2, 7, 5000)
    assert {frame.token for frame in editor.frames} == {5}
    assert text_of(editor.frames[-1]) == "a\r\n    b" and editor.frames[-1].final


async def test_fill_of_a_range(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("one\ntwo 😀\nthree\n")
    result = await editor.fill_range((0, 1), (1, 5)).answer  # ends inside the pair
    (fill,) = engine.so_far(Fill)
    assert (fill.prefix, fill.suffix) == ("o", "😀\nthree\n")
    assert (result.range.end.line, result.range.end.character) == (1, 4)


async def test_preview_can_be_refused(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("")
    engine.otherwise = lambda fill: [Show("a"), Answer.of("b")]
    await editor.fill(0, 0, workDoneToken="t", preview=False).answer
    await editor.fill(0, 0).answer
    assert editor.frames == [] and not any(fill.preview for fill in engine.so_far(Fill))


async def test_more_than_the_engine_gives(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("")
    await editor.fill(0, 0, maxTokens=100_000, alternatives=99).answer
    (fill,) = engine.so_far(Fill)
    assert (fill.max_tokens, fill.n_alternatives) == (256, 8)


async def test_cancel_and_stale(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    engine.otherwise = lambda fill: [Stall()]
    ask = editor.fill(0, 1)
    await engine.received(Fill, 1)
    ask.cancel()
    assert (await ask.error()).code == CANCELLED
    await engine.received(Cancel, 1)
    ask = editor.fill(0, 1)
    await engine.received(Fill, 2)
    editor.insert(0, 0, "y")
    assert (await ask.error()).code == MODIFIED
    await engine.received(Cancel, 2)


async def test_fills_stand_beside_completions(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    go = asyncio.Event()
    engine.scripts.extend([[Until(go), Answer.of("filled by hand")], [Answer.of("typed")]])
    fill = editor.fill(0, 1)
    await engine.received(Fill, 1)
    assert await editor.ask(0, 1).texts() == ["typed"]
    go.set()
    assert (await fill.answer).candidates[0].text == "filled by hand"


async def test_engine_error(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    engine.scripts.append([Fail(ErrorCode.OUT_OF_MEMORY, "no room")])
    error = await editor.fill(0, 1).error()
    assert (error.code, error.message) == (FAILED, "no room")


BAD_PARAMETERS: list[Any] = [
    {},
    {"position": {"line": 0, "character": 0}, "textDocument": {"uri": "file:///nowhere"}},
    {"textDocument": {"uri": URI}},
    {"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}},
    {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}, "maxTokens": 0},
    {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}, "seed": 2**70},
    {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}, "maxTokens": "many"},
    {"textDocument": {"uri": URI}, "range": {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 0}}},
    "nonsense",
    None,
]


async def test_bad_parameters(start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("abc")
    for params in BAD_PARAMETERS:
        assert (await editor.request("midfill/fill", params).error()).code == INVALID, params
    assert (await editor.request("midfill/status").answer).state == "stopped"


async def test_status(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    before = await editor.request("midfill/status").answer
    assert (before.state, before.model) == ("stopped", None)
    await editor.ask(0, 1).answer
    ready = await editor.until_status("ready")
    assert (ready.model, ready.note, ready.engineVersion) == ("scripted", NOTE, "0.0-scripted")
    assert [status.state for status in editor.statuses] == ["starting", "ready"]
    assert (await editor.request("midfill/status").answer).state == "ready"
