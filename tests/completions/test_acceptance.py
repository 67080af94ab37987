"""What the server says about the last requests, and what it does when a suggestion is refused."""

from __future__ import annotations

from lsprotocol import types

from engine.protocol import ErrorCode, Fill
from tests.lsp.conftest import StartEditor
from tests.lsp.editor import Editor, Invoked
from tests.scripted_engine import Answer, Fail, ScriptedEngine, Stall

URI = "file:///work/example.py"


def tell(editor: Editor, what: str, **more: str) -> None:
    editor.client.protocol.notify(f"midfill/{what}", {"textDocument": {"uri": URI}, **more})


async def test_what_is_refused_is_not_offered_again(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("one")], [Answer.of("two")], [Answer.of("three")]])
    assert await editor.ask(0, 4).texts() == ["one"]
    assert await editor.ask(0, 4).texts() == ["one"]
    tell(editor, "didReject")
    assert await editor.ask(0, 4).answer is None
    assert await editor.ask(0, 4, kind=Invoked).texts() == ["two"]
    tell(editor, "didReject")
    editor.insert(0, 4, "y")
    assert await editor.ask(0, 5).texts() == ["three"]


async def test_what_says_nothing_is_asked_once(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.append([Answer.of("  ")])
    assert await editor.ask(0, 4).answer is None
    assert await editor.ask(0, 4).answer is None
    assert len(engine.so_far(Fill)) == 1


async def test_the_last_requests_and_why_nothing_was_shown(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("one")], [Answer.of("  ")], [Fail(ErrorCode.INTERNAL)]])
    await editor.ask(0, 4).answer
    await editor.ask(0, 4).answer
    await editor.ask(0, 0, kind=Invoked).answer
    await editor.ask(0, 1).answer
    status = await editor.request("midfill/status").answer
    told = [(one.source, one.nothing, one.invoked) for one in status.recent]
    assert told == [
        ("engine", None, False),
        ("session", None, False),
        ("engine", "blank", True),
        ("none", "no_engine", False),
    ]
    assert all(one.latencyMs >= 0 and one.language == "python" for one in status.recent)


async def test_disabled(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor(options={"disabledLanguages": ["python"]})
    editor.open("x = \n")
    assert await editor.ask(0, 4).answer is None
    assert engine.so_far(Fill) == []
    assert (await editor.request("midfill/status").answer).recent[0].nothing == "disabled"
    assert await editor.ask(0, 4, kind=Invoked).texts() == ["filled"]


async def test_notifications_that_fit_nothing(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    tell(editor, "didAccept", accepted="some")
    tell(editor, "didAccept")
    editor.client.protocol.notify("midfill/didReject", {"textDocument": {"uri": "file:///other"}})
    editor.client.protocol.notify("midfill/didReject", {"nonsense": 1})
    assert await editor.ask(0, 4).texts() == ["filled"]
    assert editor.client.messages == []


async def test_changed_settings_hold_at_once(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor()
    editor.open("x = \n")
    engine.scripts.extend([[Answer(("one",), scores=(-9.0,))], [Answer(("one",), scores=(-9.0,))]])
    assert await editor.ask(0, 4).answer is None
    settings = {"midfill": {"gate": False}}
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    assert await editor.ask(0, 4).texts() == ["one"]


async def test_by_hand_what_is_shown_stays_at_the_deadline(engine: ScriptedEngine, start_editor: StartEditor) -> None:
    editor = await start_editor(options={"deadlineMs": 300})
    editor.open("x = \n")
    engine.scripts.extend([[Answer.of("one")], [Stall()]])
    assert await editor.ask(0, 4).texts() == ["one"]
    assert await editor.ask(0, 4, kind=Invoked).texts() == ["one"]
