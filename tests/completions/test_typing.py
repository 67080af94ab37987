"""What a user meets while typing; through the real server process, with a scripted engine."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from engine.protocol import Cancel, Fill, Reason
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import CANCELLED, MODIFIED, Ask, Automatic, Editor, Invoked, text_of
from tests.scripted_engine import Answer, ScriptedEngine, Show, Stall, Until


def ask_with_menu(editor: Editor, start: int, cursor: int, text: str, token: str | None = None) -> Ask:
    """Ask on line 0 while the menu's item `text` would replace what stands from `start` to the cursor."""
    place = types.Range(types.Position(0, start), types.Position(0, cursor))
    uri = "file:///work/example.py"
    params = types.InlineCompletionParams(
        context=types.InlineCompletionContext(Automatic, types.SelectedCompletionInfo(place, text)),
        text_document=types.TextDocumentIdentifier(uri),
        position=types.Position(0, cursor),
        work_done_token=token,
    )
    return editor.request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params)


async def test_typing_through_needs_no_engine(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("\n")
    engine.scripts.append([Answer.of("return total(\n    1)")])
    assert await editor.ask(0, 0).texts() == ["return total(\n    1)"]
    for i, left in enumerate(["eturn total(\n    1)", "turn total(\n    1)", "urn total(\n    1)"]):
        editor.insert(0, i, "ret"[i])
        assert await editor.ask(0, 1 + i).texts() == [left]
    editor.replace((0, 2), (0, 3), "")  # one key taken back
    assert await editor.ask(0, 2).texts() == ["turn total(\n    1)"]
    assert len(engine.so_far(Fill)) == 1


async def test_a_key_that_disagrees_and_is_taken_back(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("total")], [Answer.of("1")]])
    assert await editor.ask(0, 4).texts() == ["total"]
    editor.insert(0, 4, "t")
    assert await editor.ask(0, 5).texts() == ["otal"]
    editor.insert(0, 5, "x")
    disagreeing = editor.ask(0, 6)
    editor.replace((0, 5), (0, 6), "")
    assert await editor.ask(0, 5).texts() == ["otal"]
    assert await disagreeing.error_code() in (MODIFIED, CANCELLED)
    assert len(engine.so_far(Fill)) == 1


async def test_a_burst_asks_once(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("\n")
    engine.otherwise = lambda fill: [Stall()] if len(fill.prefix) < 100 else [Answer.of("!")]
    asks = []
    for i in range(100):
        editor.insert(0, i, "x")
        asks.append(editor.ask(0, i + 1))
    *older, last = asks
    assert await last.texts() == ["!"]
    codes = {await ask.error_code() for ask in older}
    assert codes <= {MODIFIED, CANCELLED}
    assert len(engine.so_far(Fill)) <= 2
    assert engine.so_far(Fill)[-1].prefix == "x" * 100
    assert engine.n_open == 0


async def test_the_first_request_waits_for_a_pause_too(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("\n")
    editor.insert(0, 0, "x")
    first = editor.ask(0, 1)
    editor.insert(0, 1, "y")
    assert await editor.ask(0, 2).texts() == ["filled"]
    assert await first.error_code() in (MODIFIED, CANCELLED)
    assert [fill.prefix for fill in engine.so_far(Fill)] == ["xy"]


async def test_an_edit_cancels_in_the_engine(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x\n")
    engine.scripts.append([Show("r"), Stall()])
    ask = editor.ask(0, 1, token="t")
    await editor.until_frames(1)
    editor.insert(0, 1, "y")
    assert await ask.error_code() == MODIFIED
    (cancelled,) = await engine.received(Cancel)
    assert cancelled.request_id == engine.so_far(Fill)[0].request_id


async def test_where_the_last_run_was_going_is_a_guess(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.append([Show("sum(", "items)"), Stall()])
    editor.ask(0, 4, token="t")
    await editor.until_frames(1)
    editor.insert(0, 4, "s")
    await editor.ask(0, 5).answer
    assert engine.so_far(Fill)[-1].guesses == ("um(items)",)


@pytest.mark.parametrize(("typed", "after", "left"), [("(", ")", "a, b"), ("(", "", "a, b)")])
async def test_pairs_that_the_editor_closes(
    engine: ScriptedEngine, start_editor: StartEditor, typed: str, after: str, left: str
) -> None:
    editor = await start_editor()
    editor.open("x = f\n")
    engine.scripts.append([Answer.of("(a, b)")])
    assert await editor.ask(0, 5).texts() == ["(a, b)"]
    editor.insert(0, 5, typed + after)
    assert await editor.ask(0, 6).texts() == [left]
    assert len(engine.so_far(Fill)) == 1


async def test_the_next_one_is_begun_before_it_is_asked_for(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    go = asyncio.Event()
    engine.scripts.extend([[Answer.of("total")], [Until(go), Answer.of("\ny = 2")]])
    assert await editor.ask(0, 4).texts() == ["total"]
    editor.insert(0, 4, "total")
    assert (await engine.received(Fill, 2))[1].prefix == "x = total"
    ask = editor.ask(0, 9)
    go.set()
    assert await ask.texts() == ["\ny = 2"]
    assert len(engine.so_far(Fill)) == 2


async def test_what_is_begun_early_converges_in_view(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    go = asyncio.Event()
    engine.scripts.extend([[Answer.of("total")], [Until(go), Show("\ny"), Answer.of("\ny = 2")]])
    await editor.ask(0, 4, token="first").answer
    editor.insert(0, 4, "total")
    await engine.received(Fill, 2)
    ask = editor.ask(0, 9, token="second")
    status = editor.request("midfill/status")  # answered after the request has been taken
    await status.answer
    go.set()
    assert await ask.texts() == ["\ny = 2"]
    second = [text_of(frame) for frame in editor.frames if frame.token == "second"]
    assert second == ["\ny", "\ny = 2"]


async def test_what_was_begun_too_early_is_stopped(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("total")], [Stall()]])
    await editor.ask(0, 4).answer
    editor.insert(0, 4, "total")
    await engine.received(Fill, 2)
    editor.insert(0, 9, "s")
    await engine.received(Cancel)


async def test_nothing_is_begun_where_it_is_switched_off(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor(options={"prefetch": False})
    editor.open("x = \n")
    await editor.ask(0, 4).answer
    editor.insert(0, 4, "filled")
    editor.insert(0, 0, "#")
    await editor.ask(0, 1, kind=Invoked).answer  # goes to the engine, after whatever was begun before
    assert len(engine.so_far(Fill)) == 2


async def test_the_selected_menu_item_is_extended(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("pr\n")
    engine.scripts.append([Show('("'), Answer.of('("x")')])
    first = editor.ask(0, 2)
    second = ask_with_menu(editor, 0, 2, "print", token="t")
    assert await first.error_code() == CANCELLED
    place = types.Range(types.Position(0, 0), types.Position(0, 2))
    assert await second.items() == [('print("x")', place)]
    (fill,) = engine.so_far(Fill)
    assert (fill.prefix, fill.suffix) == ("print", "\n")
    assert {text_of(frame)[:5] for frame in editor.frames} == {"print"}
    editor.insert(0, 2, "i")
    assert await ask_with_menu(editor, 0, 3, "print").texts() == ['print("x")']  # answered by the session
    editor.replace((0, 0), (0, 3), "print")
    assert await editor.ask(0, 5).texts() == ['("x")']
    assert len(engine.so_far(Fill)) == 1


async def test_alternatives_to_what_is_shown(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("one")], [Answer.of("n", "ne", "nly")]])
    await editor.ask(0, 4).answer
    editor.insert(0, 4, "o")
    assert await editor.ask(0, 5).texts() == ["ne"]
    assert await editor.ask(0, 5, kind=Invoked).texts() == ["ne", "n", "nly"]


async def test_a_line_that_the_limit_has_cut(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("\n")
    engine.scripts.append([Answer(("x = 1\ny = 2\nz = some", "x = some"), Reason.LIMIT)])
    assert await editor.ask(0, 0, kind=Invoked).texts() == ["x = 1\ny = 2", "x = some"]


async def test_nothing_at_the_deadline(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor(options={"deadlineMs": 50})
    editor.open("x\n")
    engine.scripts.append([Stall()])
    assert await editor.ask(0, 1).answer is None
    await engine.received(Cancel)
    assert 0 < engine.so_far(Fill)[0].deadline_ms <= 50


async def test_closing_stops_everything(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("total")], [Stall()]])
    await editor.ask(0, 4).answer
    editor.insert(0, 4, "total")
    await engine.received(Fill, 2)
    identifier = types.TextDocumentIdentifier("file:///work/example.py")
    editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
    await engine.received(Cancel)
