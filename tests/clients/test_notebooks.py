"""Notebooks: what the engine sees of the cells around the one that is completed, through the real server."""

from __future__ import annotations

from lsprotocol import types

from engine.protocol import Fill
from tests.clients.conftest import StartDesk
from tests.clients.desk import Desk, cell_uri
from tests.lsp.editor import CANCELLED, INVALID, MODIFIED, Automatic
from tests.scripted_engine import ScriptedEngine, Stall

CAPABILITIES = types.ClientCapabilities(
    notebook_document=types.NotebookDocumentClientCapabilities(types.NotebookDocumentSyncClientCapabilities())
)
A, B, C = ("a", "python", "a = 1\n"), ("b", "python", "print("), ("c", "python", "done()\r\nend()")


async def seen(desk: Desk, engine: ScriptedEngine, cell: str, line: int, character: int) -> tuple[str, str]:
    """What the engine is told around a place in a cell."""
    n = len(engine.so_far(Fill))
    await desk.fill(line, character, uri=cell_uri(cell)).answer
    fill = (await engine.received(Fill, n + 1))[-1]
    return fill.prefix, fill.suffix


async def test_cells_in_order(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    assert desk.capabilities.notebook_document_sync is not None
    desk.open_notebook(A, B, C)
    assert await seen(desk, engine, "b", 0, 6) == ("a = 1\n\nprint(", "\n\ndone()\nend()")
    assert await seen(desk, engine, "a", 0, 0) == ("", "a = 1\n\n\nprint(\n\ndone()\nend()")
    await desk.ask(0, 6, uri=cell_uri("b")).answer
    completion = engine.so_far(Fill)[-1]
    assert completion.prefix == "a = 1\n\nprint(" and completion.path == "/work/book.ipynb"


async def test_cells_come_go_move_and_change(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    desk.open_notebook(A, B)
    desk.splice(2, 0, C, opened=1)
    assert await seen(desk, engine, "b", 0, 6) == ("a = 1\n\nprint(", "\n\ndone()\nend()")
    desk.splice(0, 2, B, A)  # moved
    assert await seen(desk, engine, "b", 0, 6) == ("print(", "\n\na = 1\n\ndone()\nend()")
    desk.edit_cell("a", "a = '😀'")
    assert await seen(desk, engine, "c", 0, 0) == ("print(\n\na = '😀'\n\n", "done()\nend()")
    desk.splice(1, 1, closed=("a",))
    assert await seen(desk, engine, "c", 0, 0) == ("print(\n\n", "done()\nend()")
    desk.close_notebook("b", "c")
    assert (await desk.fill(0, 0, uri=cell_uri("c")).error()).code == INVALID


async def test_what_other_cells_say(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    prose = ("m", "markdown", "# Sums\n\nAdd them.\n")
    desk.open_notebook(prose, ("s", "sql", "select 1"), ("e", "python", " \n"), B, ("n", "markdown", "After."))
    assert await seen(desk, engine, "b", 0, 6) == ("# # Sums\n#\n# Add them.\n\nprint(", "\n\n# After.")
    assert await seen(desk, engine, "n", 0, 0) == ("# Sums\n\nAdd them.\n\n", "After.")


async def test_an_edit_ends_what_is_under_way_in_its_cell_only(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    desk.open_notebook(A, B)
    engine.otherwise = lambda fill: [Stall()]
    first, second = desk.fill(0, 5, uri=cell_uri("a")), desk.fill(0, 6, uri=cell_uri("b"))
    await engine.received(Fill, 2)
    desk.edit_cell("a", "a = 2")
    assert (await first.error()).code == MODIFIED
    second.cancel()
    assert (await second.error()).code == CANCELLED


async def test_many_cells(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    cells = [(f"c{i}", "python", f"x{i} = {i}") for i in range(2000)]
    desk.open_notebook(*cells, B)
    prefix, _ = await seen(desk, engine, "b", 0, 6)
    assert prefix.endswith("x1998 = 1998\n\nx1999 = 1999\n\nprint(")


async def test_what_makes_no_sense_is_left_alone(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    desk.splice(0, 0, A, opened=1)  # of a notebook that is not open
    desk.open_notebook(A)
    desk.splice(7, 3, B)  # beyond the end, and without its text
    assert await seen(desk, engine, "a", 0, 0) == ("", "a = 1\n")
    assert desk.client.messages == []


async def test_with_a_menu_open(engine: ScriptedEngine, start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=CAPABILITIES)
    desk.open_notebook(A, B, ("d", "python", "done.fi"))
    place = types.Range(types.Position(0, 5), types.Position(0, 7))
    params = types.InlineCompletionParams(
        types.InlineCompletionContext(Automatic, types.SelectedCompletionInfo(place, "fields")),
        types.TextDocumentIdentifier(cell_uri("d")),
        types.Position(0, 7),
    )
    await desk.request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params).answer
    (fill,) = engine.so_far(Fill)
    assert fill.prefix.startswith("a = 1\n\nprint(\n\ndone.fi")
