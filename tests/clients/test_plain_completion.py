"""Completion in the editor's menu, for clients without inline completion; with the real server."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types

from engine.protocol import ErrorCode, Fill
from lsp_server.abilities import Abilities
from lsp_server.completions.menu_item import menu_item
from lsp_server.positions import Point
from tests.clients.conftest import StartDesk
from tests.clients.desk import Desk
from tests.lsp.editor import URI
from tests.lsp.test_positions import document
from tests.scripted_engine import Answer, Fail, ScriptedEngine

MENU = types.ClientCapabilities(text_document=types.TextDocumentClientCapabilities())


async def menu(desk: Desk, line: int, character: int) -> Any:
    """What the editor's menu would show."""
    params = types.CompletionParams(types.TextDocumentIdentifier(URI), types.Position(line, character))
    return await desk.request(types.TEXT_DOCUMENT_COMPLETION, params).answer


async def test_one_item(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=MENU, options={"plainCompletion": True})
    desk.open("def f(first):\n    ret")
    engine.scripts.append([Answer.of("urn first", "urn 0")])
    result = await menu(desk, 1, 7)
    (item,) = result.items
    assert result.is_incomplete and item.preselect is False and item.label == "return first"
    place = types.Range(types.Position(1, 4), types.Position(1, 7))
    assert item.text_edit == types.TextEdit(place, "return first") and item.filter_text == "return first"
    desk.insert(1, 7, "urn")
    (item,) = (await menu(desk, 1, 10)).items  # typed through: no other question
    assert item.label == "return first" and len(engine.so_far(Fill)) == 1


async def test_off_unless_asked_for(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=MENU)
    desk.open("x")
    assert await menu(desk, 0, 1) is None
    desk.configure({"plainCompletion": True, "disabledLanguages": ["python"]})
    assert not (await menu(desk, 0, 1)).items
    assert engine.requests == []


async def test_an_error_is_no_message(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=MENU, options={"plainCompletion": True})
    desk.open("x")
    engine.scripts.append([Fail(ErrorCode.OUT_OF_MEMORY)])
    assert await menu(desk, 0, 1) is None
    assert desk.client.messages == []


@pytest.mark.parametrize(
    ("before", "text", "label", "new_text", "start"),
    [
        ("x = ", "5", "5", "5", 4),
        ("f(naïve", "té)", "naïveté)", "naïveté)", 2),
        ("    ", "a()\nb()", "a() …", "a()\r\nb()", 4),
        ("😀a", "b" * 80, "a" + "b" * 58 + "…", "a" + "b" * 80, 2),
        ("f", "\n    pass", "f …", "f\r\n    pass", 0),
    ],
)
def test_its_form(before: str, text: str, label: str, new_text: str, start: int) -> None:
    one = document(before + "\r\n")
    item = menu_item(one, Point(0, len(before)), text, Abilities())
    assert isinstance(item.text_edit, types.TextEdit)
    assert (item.label, item.text_edit.new_text) == (label, new_text)
    assert item.text_edit.range.start == types.Position(0, start)
    assert item.filter_text is not None and new_text.startswith(item.filter_text)
    assert item.documentation == new_text.replace("\r", "") and item.insert_text_mode is None


def test_its_form_for_able_clients() -> None:
    item = menu_item(document(""), Point(0, 0), "a = '```'", Abilities(reads_markdown=True, keeps_indentation=True))
    assert isinstance(item.documentation, types.MarkupContent)
    assert item.documentation.value == "````python\na = '```'\n````"
    assert item.insert_text_mode is types.InsertTextMode.AsIs
