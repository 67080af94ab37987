"""`textDocument/inlineCompletion` through the real server process, with a scripted engine."""

from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types

from engine.protocol import Cancel, ErrorCode, Fill
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import CANCELLED, FAILED, INVALID, MODIFIED, Automatic, Invoked, text_of
from tests.scripted_engine import Answer, Fail, ScriptedEngine, Show, Stall, Until


async def test_items_have_a_range_and_a_filter_text(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \ny\n")
    engine.scripts.append([Answer.of("1")])
    (item,) = (await editor.ask(0, 4).answer).items
    cursor = types.Position(0, 4)
    assert item == types.InlineCompletionItem("1", filter_text="1", range=types.Range(cursor, cursor))
    (fill,) = await engine.received(Fill)
    assert (fill.prefix, fill.suffix, fill.language, fill.version) == ("x = ", "\ny\n", "python", 1)
    assert fill.path == "/work/example.py"
    assert not fill.preview and fill.n_alternatives == 1


async def test_how_many_lines_are_asked_for(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    lines = ["f(a, |)", "f(a, |", "f(a,|  \t", "name|", "    |", "|", "f(a)|", "if x:|", "x = {|"]
    editor.open("\n".join(line.replace("|", "") for line in lines))
    asked = []
    for kind in (Automatic, Invoked):
        for number, line in enumerate(lines):
            await editor.ask(number, line.index("|"), kind=kind).answer
        asked.append([fill.max_lines for fill in engine.so_far(Fill)][-len(lines) :])
    assert asked[0] == [1, 1, 1, 1, 0, 0, 0, 0, 0]
    assert asked[1] == [1, 0, 0, 0, 0, 0, 0, 0, 0]


async def test_alternatives_when_invoked(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor(options={"alternatives": 4})
    editor.open("")
    engine.scripts.append([Answer.of("a", "b", "a", "  \n", "c")])
    assert await editor.ask(0, 0, kind=Invoked).texts() == ["a", "b"]  # four asked for, repeats and blanks dropped
    assert engine.so_far(Fill)[0].n_alternatives == 4


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32", "latin1"])
async def test_positions_in_each_encoding(engine: ScriptedEngine, start_editor: StartEditor, encoding: str) -> None:
    editor = await start_editor(encodings=[encoding])
    agreed = "utf-16" if encoding == "latin1" else encoding
    assert editor.capabilities.position_encoding == agreed
    before = 's = "😀é" + '
    units = {"utf-8": len(before.encode()), "utf-16": len(before) + 1, "utf-32": len(before)}[agreed]
    editor.open(f"# Привет 𝕏\n{before}\n")
    ((_, place),) = await editor.ask(1, units).items()
    assert engine.so_far(Fill)[0].prefix.endswith(before)
    assert place.start == types.Position(1, units)
    editor.insert(1, units, "é𝕏")
    await editor.ask(1, units).answer
    assert engine.so_far(Fill)[1].suffix == "é𝕏\n"


async def test_inside_a_pair_and_beyond_the_end(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("😀x\nlast")
    for asked, prefix, clamped in [
        ((0, 1), "", (0, 0)),
        ((0, 99), "😀x", (0, 3)),
        ((1, 99), "😀x\nlast", (1, 4)),
        ((99, 0), "😀x\nlast", (1, 4)),
    ]:
        ((_, place),) = await editor.ask(*asked).items()
        assert engine.so_far(Fill)[-1].prefix == prefix
        assert place.start == place.end == types.Position(*clamped)


async def test_line_ends_of_the_document(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    engine.otherwise = lambda fill: [Answer.of("[\n  x]")]
    for text, cursor, inserted in [
        ("a(\r\n  \r\n)\r\n", (1, 2), "[\r\n  x]"),
        ("a(\n  \n)\n", (1, 2), "[\n  x]"),
        ("a(\r  \r)\r", (1, 2), "[\r  x]"),
        ("", (0, 0), "[\n  x]"),
        ("a\r\nb", (1, 1), "[\r\n  x]"),
    ]:
        editor.open(text)
        (shown,) = await editor.ask(*cursor).texts()
        assert shown.replace(" ", "") == inserted.replace(" ", "")  # indentation is another matter
    assert not any("\r" in fill.prefix + fill.suffix for fill in engine.so_far(Fill))


async def test_frames_go_to_who_gave_a_token(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("p\r\n")
    go = asyncio.Event()
    engine.scripts.append([Show("pr", "xx\ny"), Until(go), Answer.of("print\n()")])
    ask = editor.ask(0, 1, token="t1")
    await editor.until_frames(1)
    go.set()
    assert await ask.texts() == ["print\r\n()"]
    first, *_, last = editor.frames
    assert [(span.text, span.settled) for span in first.spans] == [("pr", True), ("xx\r\ny", False)]
    assert (first.token, first.uri, first.version, first.final) == ("t1", "file:///work/example.py", 1, False)
    assert text_of(last) == "print\r\n()"
    assert [frame.final for frame in editor.frames].count(True) == 1 and last.final

    await editor.ask(0, 0).answer
    assert not engine.so_far(Fill)[1].preview
    assert all(frame.token == "t1" for frame in editor.frames)


async def test_cancel_reaches_the_engine(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    engine.scripts.append([Show("a"), Stall()])
    ask = editor.ask(0, 1, token="t")
    await editor.until_frames(1)
    ask.cancel()
    assert (await ask.error()).code == CANCELLED
    await engine.received(Cancel)
    assert await editor.ask(0, 1).texts() == ["filled"]
    assert [text_of(frame) for frame in editor.frames] == ["a"]


async def test_a_newer_request_takes_the_place(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("xy")
    editor.open("other", uri="file:///other.py")
    engine.scripts.extend([[Stall()], [Stall()], [Answer.of("new")]])
    other = editor.ask(0, 0, uri="file:///other.py")
    await engine.received(Fill, 1)
    older = editor.ask(0, 1)
    await engine.received(Fill, 2)
    newer = editor.ask(0, 2)
    assert (await older.error()).code == CANCELLED
    assert await newer.texts() == ["new"]
    (cancel,) = await engine.received(Cancel)
    assert cancel.request_id == engine.so_far(Fill)[1].request_id
    assert not other.answer.done()


async def test_an_edit_makes_it_stale(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x\ny\nz")
    engine.scripts.append([Show("a"), Stall()])
    ask = editor.ask(2, 1, token="t")
    await editor.until_frames(1)
    editor.replace((1, 0), (2, 1), "")
    assert (await ask.error()).code == MODIFIED
    await engine.received(Cancel)
    assert await editor.ask(1, 0).texts() == ["filled"]
    assert len(editor.frames) == 1


async def test_closing_and_opening_make_it_stale(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x", uri="file:///c%3A/x.py")
    engine.otherwise = lambda fill: [Stall()]
    for n in (1, 2):
        ask = editor.ask(0, 1, uri="file:///c:/x.py")
        await engine.received(Fill, n)
        if n == 1:
            editor.open("y", uri="file:///c:/x.py")
        else:
            identifier = types.TextDocumentIdentifier("file:///c:/x.py")
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        assert (await ask.error()).code == MODIFIED
    assert (await editor.ask(0, 1, uri="file:///c:/x.py").error()).code == INVALID


async def test_a_request_and_an_edit_in_one_packet(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("abc")
    engine.otherwise = lambda fill: [Stall()]
    for _ in range(3):  # nothing is awaited in between: they travel together
        ask = editor.ask(0, 1)
        editor.insert(0, 0, "x")
        assert (await ask.error()).code == MODIFIED


async def test_an_edit_storm(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("")
    engine.otherwise = lambda fill: [Answer.of("last")] if fill.prefix.endswith("!") else [Stall()]
    asks = []
    for i in range(100):
        editor.insert(0, i, "abcdefghij"[i % 10])
        asks.append(editor.ask(0, i + 1))
    editor.insert(0, 100, "!")
    final = editor.ask(0, 101)
    assert await final.texts() == ["last"]
    codes = {(await ask.error()).code for ask in asks}
    assert codes <= {CANCELLED, MODIFIED}
    assert engine.so_far(Fill)[-1].prefix == "abcdefghij" * 10 + "!"
    assert engine.n_open == 0


async def test_a_huge_line(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    text = "x = [" + "1234567, " * 600_000 + "]"
    editor.open(text)
    editor.insert(0, 5, "é")
    editor.insert(0, len(text), "0")
    ((_, place),) = await editor.ask(0, len(text) + 1).items()
    (fill,) = engine.so_far(Fill)
    assert fill.suffix == "]" and fill.prefix.endswith("67, 0") and len(fill.prefix) < 50_000
    assert place.end.character == len(text) + 1


async def test_unknown_document(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    error = await editor.ask(0, 0, uri="file:///nowhere.py").error()
    assert error.code == INVALID
    assert "file:///nowhere.py is not open" in error.message


async def test_quoted_uris_are_one_document(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x", uri="file:///c%3A/a%20b.py")
    assert await editor.ask(0, 1, uri="file:///c:/a%20b.py").texts() == ["filled"]


async def test_engine_errors(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x")
    engine.scripts.extend([[Fail(ErrorCode.OUT_OF_MEMORY, "no room")], [Fail(ErrorCode.BUSY)]])
    error = await editor.ask(0, 1, kind=Invoked).error()
    assert (error.code, error.message) == (FAILED, "no room")
    assert error.data is not None
    assert await editor.ask(0, 1).answer is None  # while typing: nothing that could pop up
    assert await editor.ask(0, 1).texts() == ["filled"]
    assert editor.client.messages == []


async def test_switched_off(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor(options={"midfill": {"enabled": False}})
    editor.open("x")
    assert await editor.ask(0, 1).answer is None
    assert engine.n_hellos == 0
    assert await editor.ask(0, 1, kind=Invoked).texts() == ["filled"]
