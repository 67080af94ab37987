"""Filling by command and code action, for clients that know no more than the standard; with the real server."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from lsprotocol import types

from engine.protocol import Cancel, ErrorCode, Fill
from tests.clients.conftest import StartDesk
from tests.clients.desk import Desk
from tests.clients.test_offers import EDITS
from tests.lsp.editor import INVALID, URI
from tests.scripted_engine import Answer, Fail, ScriptedEngine, Stall

ACTIONS = attrs.evolve(
    EDITS,
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            code_action_literal_support=types.ClientCodeActionLiteralOptions(
                types.ClientCodeActionKindOptions([types.CodeActionKind.RefactorRewrite])
            )
        )
    ),
    window=types.WindowClientCapabilities(work_done_progress=True),
)


def at(line: int, character: int, **document: Any) -> dict[str, Any]:
    """The argument of `midfill.fill` for a position."""
    return {"textDocument": {"uri": URI, **document}, "position": {"line": line, "character": character}}


@attrs.frozen
class RawActions:
    """Code actions as they are on the wire: the client's own types take them for commands."""

    result: list[dict[str, Any]] | None
    id: int
    jsonrpc: str


async def actions(desk: Desk, start: tuple[int, int], end: tuple[int, int], **context: Any) -> list[dict[str, Any]]:
    """Code actions for a range."""
    params = types.CodeActionParams(
        types.TextDocumentIdentifier(URI),
        types.Range(types.Position(*start), types.Position(*end)),
        types.CodeActionContext([], **context),
    )
    ask = desk.request(types.TEXT_DOCUMENT_CODE_ACTION, params)
    desk.client.protocol._result_types[ask.message_id] = RawActions
    return await ask.answer or []


async def test_an_edit_of_the_version_it_was_made_for(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=EDITS)
    desk.open("def f():\r\n    \r\n")
    engine.scripts.append([Answer.of("a\n    b")])
    assert await desk.command("midfill.fill", {**at(1, 4), "maxTokens": 9}).answer is None
    await desk.until(lambda: desk.edits)
    (edit,) = desk.edits[0].edit.document_changes or ()
    assert isinstance(edit, types.TextDocumentEdit)
    assert (edit.text_document.uri, edit.text_document.version) == (URI, 1)
    place = types.Range(types.Position(1, 4), types.Position(1, 4))
    assert list(edit.edits) == [types.TextEdit(place, "a\r\n    b")]
    assert engine.so_far(Fill)[0].max_tokens == 9 and desk.client.messages == []


async def test_code_actions_carry_the_command(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=ACTIONS)
    desk.open("one two three\n")
    here, selection = await actions(desk, (0, 4), (0, 7))
    assert (here["title"], selection["title"]) == ("Midfill: fill here", "Midfill: fill the selection")
    assert here["kind"] == "refactor.rewrite"
    await desk.command(selection["command"]["command"], *selection["command"]["arguments"]).answer
    await desk.until(lambda: desk.edits)
    (fill,) = engine.so_far(Fill)
    assert (fill.prefix, fill.suffix) == ("one ", " three\n")
    assert [one["title"] for one in await actions(desk, (0, 4), (0, 4))] == ["Midfill: fill here"]


async def test_when_there_are_code_actions(start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=ACTIONS)
    desk.open("x")
    kinds = types.CodeActionKind
    for only, n in [
        ([kinds.Refactor], 1),
        ([kinds.Empty], 1),
        ([kinds.QuickFix], 0),
        ([kinds.QuickFix, "refactor"], 1),
    ]:
        assert len(await actions(desk, (0, 0), (0, 0), only=only)) == n, only
    automatic = types.CodeActionTriggerKind.Automatic
    assert await actions(desk, (0, 0), (0, 0), trigger_kind=automatic) == []


async def test_clients_that_know_commands_only(start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=EDITS)
    desk.open("x")
    (command,) = await actions(desk, (0, 0), (0, 0))
    assert command["command"] == "midfill.fill"


async def test_what_is_typed_on_is_left_alone(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=EDITS)
    desk.open("x")
    engine.otherwise = lambda fill: [Stall()]
    await desk.command("midfill.fill", at(0, 1)).answer
    await engine.received(Fill)
    desk.insert(0, 0, "y")
    await engine.received(Cancel)
    assert (await desk.command("midfill.fill", at(0, 1, version=1)).error()).message == "the document changed meanwhile"
    assert desk.edits == [] and desk.client.messages == []


async def test_the_cancel_button(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=ACTIONS)
    desk.open("x")
    engine.otherwise = lambda fill: [Stall()]
    await desk.command("midfill.fill", at(0, 1)).answer
    await engine.received(Fill)
    reports = desk.client.progress_reports
    await desk.until(lambda: any(reports.values()))
    ((token, shown),) = reports.items()
    begun = {"kind": "begin", "title": "Midfill: filling", "cancellable": True}
    assert shown[0].value == begun
    desk.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    await engine.received(Cancel)
    await desk.until(lambda: len(shown) == 2)
    assert shown[1].value == {"kind": "end"} and desk.edits == []


async def test_a_progress_ends_with_its_fill(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=ACTIONS)
    desk.open("x")
    for n in range(1, 4):
        await desk.command("midfill.fill", at(0, 1)).answer
        await desk.until(lambda n=n: len(desk.edits) == n)
    reports = desk.client.progress_reports
    await desk.until(lambda: all(len(shown) != 1 for shown in reports.values()))
    for shown in reports.values():
        assert [one.value["kind"] for one in shown] in ([], ["begin", "end"])


async def test_files_that_are_left_alone(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=EDITS)
    desk.open("KEY=abc\n", uri="file:///work/.env", language="plaintext")
    where = {"textDocument": {"uri": "file:///work/.env"}, "position": {"line": 1, "character": 0}}
    await desk.command("midfill.fill", where).answer
    assert "looks like credentials" in (await desk.until_message()).message
    assert engine.so_far(Fill) == []


async def test_what_goes_wrong_is_told(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=EDITS)
    desk.open("x")
    engine.scripts += [[Fail(ErrorCode.OUT_OF_MEMORY, "no room")], [Answer.of(" ")], [Answer.of("y")]]
    desk.takes_edits = False
    told = ["could not fill: no room", "has nothing to say", "did not take the text: not now"]
    for n, words in enumerate(told, 1):
        await desk.command("midfill.fill", at(0, 1)).answer
        assert words in (await desk.until_message(n)).message


@pytest.mark.parametrize("arguments", [(), ({},), ({"textDocument": {"uri": URI}},), (5,), (at(0, 0), at(0, 0))])
async def test_bad_arguments(start_desk: StartDesk, arguments: tuple[Any, ...]) -> None:
    desk = await start_desk(capabilities=EDITS)
    desk.open("x")
    assert (await desk.command("midfill.fill", *arguments).error()).code == INVALID
    assert (await desk.command("midfill.nonsense").error()).code == INVALID


async def test_status_and_restart(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=EDITS)
    await desk.command("midfill.status").answer
    assert (await desk.until_message()).message == "Midfill: stopped"
    await desk.command("midfill.restart").answer
    assert "ready, with the model scripted" in (await desk.until_message(2)).message
