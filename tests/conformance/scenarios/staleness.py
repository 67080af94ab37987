"""E3 to E6: answers that come too late, menus, previews."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, scenario
from tests.conformance.steps import (
    STALE,
    Accept,
    Ask,
    Begin,
    Cancel,
    Cancels,
    Close,
    End,
    Fills,
    FillsAtMost,
    Go,
    Hold,
    Insert,
    Move,
    Open,
    Prompt,
    Reached,
    Reads,
    Replace,
    Rows,
    Shown,
    Type,
    Undo,
)
from tests.engine_script import Answer, Show, Stall
from tests.lsp.editor import CANCELLED

_HELD: Final = [Show("tot", "al"), Hold("late"), Answer.of("total")]

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # E3: the user has left
    scenario("E3", "taken back while it is computed", "x = │⏎", Begin(), Reached(), Cancel(), End(error=CANCELLED),
             Cancels(1), plays=[[Stall()]]),
    scenario("E3", "taken back after frames", "x = │⏎", Begin(frames=True), Shown(), Cancel(),
             End(error=CANCELLED), Cancels(1), Go("late"), Fills(1), Rows(at_most=1), plays=[_HELD]),
    scenario("E3", "taken back while it waits for a pause", "x = │⏎", Type("a"), Begin(), Cancel(),
             End(error=CANCELLED),
             FillsAtMost(1), otherwise=[Stall()]),
    scenario("E3", "taken back, then asked again", "x = │⏎", Begin(), Reached(), Cancel(), End(error=CANCELLED),
             Ask(shows="1"), plays=[[Stall()], "1"]),
    scenario("E3", "taken back when it has come", "x = │⏎", Ask(shows="1"), Cancel("ask 0"), Ask(shows="1"),
             plays=["1"], otherwise="1"),
    # E4: a completion menu opens
    scenario("E4", "the menu comes after the first request", "pr│⏎", Begin(), Reached(),
             Ask(selected="print", shows='int("x")'), End(error=STALE), Cancels(1), Prompt("print"),
             plays=[[Stall()], '("x")']),
    scenario("E4", "both at once", "pr│⏎", Begin(), Begin("menu", selected="print"), FillsAtMost(2), Go("on"),
             End(error=STALE), End("menu", shows='int("x")'), otherwise=[Hold("on"), Answer.of('("x")')]),
    scenario("E4", "another item is selected", "pr│⏎", Begin("print", selected="print"), Reached(),
             Ask(selected="property", shows="operty(f)"), End("print", error=STALE), Cancels(1),
             plays=[[Stall()], "(f)"]),
    scenario("E4", "accepted with the menu's item", "pr│⏎", Ask(selected="print", shows='int("x")'), Accept(),
             Reads('print("x")│⏎'), plays=['("x")']),
    scenario("E4", "the menu's item first", "pr│⏎", Ask(selected="print", shows='int("x")'), Replace("pr", "print"),
             Move("print", after=True), Ask(shows='("x")'), Fills(1), plays=['("x")']),
    scenario("E4", "typing while the menu is open", "pr│⏎", Ask(selected="print", shows='int("x")'), Type("i"),
             Ask(selected="print", shows='nt("x")'), Fills(1), plays=['("x")']),
    scenario("E4", "the menu closes", "pr│⏎", Ask(selected="print", shows='int("x")'), Ask(shows="operty"),
             plays=['("x")', "operty"]),
    scenario("E4", "with frames", "pr│⏎", Begin(selected="print", frames=True), Shown(), Go("late"),
             End(shows="inttotal"), Rows(at_most=3, last="printtotal"), plays=[_HELD]),
    # E5: nothing jumps while it converges
    scenario("E5", "thirty frames at once", "def f():⏎    │⏎", Begin(frames=True), End(),
             Rows(at_most=2, last="a⏎    b"), plays=[[*(Show("a", f"⏎    {i}") for i in range(30)),
             Answer.of("a\n    b")]]),
    scenario("E5", "fewer rows in between", "def f():⏎    │⏎", Begin(frames=True), Shown(1), Go("1"), Shown(2), Go("2"),
             Shown(3), Go("3"), End(), Rows(at_most=4, last="a⏎    b⏎    c"),
             plays=[[Show("a\n", "    b\n    c"), Hold("1"), Show("a"), Hold("2"), Show("a\n", "    b"), Hold("3"),
                     Answer.of("a\n    b\n    c")]]),
    scenario("E5", "shaped as the answer is", "f(│)⏎", Begin(frames=True), Shown(), Go("1"), End(shows="a"),
             Rows(at_most=2, last="a"), plays=[[Show("a", ")"), Hold("1"), Answer.of("a)")]]),
    scenario("E5", "no token, no frames", "x = │⏎", Ask(shows="total"), Rows(at_most=0), plays=[[Show("t"),
             Answer.of("total")]]),
    scenario("E5", "switched off", "x = │⏎", Ask(shows="total", frames=True), Rows(at_most=0),
             plays=[[Show("t"), Answer.of("total")]], settings={"preview": False}),
    scenario("E5", "CRLF", "def f():⏎    │⏎", Begin(frames=True), End(), Rows(at_most=2, last="a⏎    b"),
             plays=[[Show("a\n", "    b"), Answer.of("a\n    b")]], line_end="\r\n"),
    # E6: the snapshot of the request's version
    scenario("E6", "a key while it is computed", "x = │⏎", Begin(), Reached(), Type("y"), End(error=STALE), Cancels(1),
             Ask(shows="1"), plays=[[Stall()], "1"]),
    scenario("E6", "a key in the same moment", "x = │⏎", Begin(), Type("y"), FillsAtMost(1), End(error=STALE), Go("on"),
             Ask(shows="1"), otherwise=[Hold("on"), Answer.of("1")]),
    scenario("E6", "an edit below", "x = │⏎y⏎", Begin(), Reached(), Replace("y", "z"), End(error=STALE), Cancels(1),
             Ask(shows="1"), Prompt(suffix="⏎z"), plays=[[Stall()], "1"]),
    scenario("E6", "undo while it is computed", "x = │⏎", Type("y"), Begin(), Reached(), Undo(), End(error=STALE),
             Ask(shows="1"), Accept(), Reads("x = 1│⏎"), plays=[[Stall()], "1"], otherwise="1"),
    scenario("E6", "another document is no edit", "x = │⏎", Begin(), Reached(), Open("other", "y"), Insert("z"),
             Open("example"), Go("late"), End(shows="total"), plays=[_HELD]),
    scenario("E6", "opened anew", "x = │⏎", Begin(), Reached(), Close(), End(error=STALE), Cancels(1),
             Open("example", "y = │"), Ask(shows="1"), Prompt("y = "), plays=[[Stall()], "1"]),
]
