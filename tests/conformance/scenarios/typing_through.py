"""E1, E2, E8, K2, L6: while a suggestion stands there."""

from __future__ import annotations

from typing import Final

from engine.protocol import ErrorCode
from tests.conformance.scenario import Scenario, in_all_encodings, scenario
from tests.conformance.steps import (
    STALE,
    Accept,
    Ask,
    Begin,
    Cancels,
    Close,
    End,
    Erase,
    Fills,
    Insert,
    Keystrokes,
    Move,
    Open,
    Reached,
    Reads,
    Reasons,
    Reject,
    Type,
    Undo,
)
from tests.engine_script import Answer, Fail, Show, Stall

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # E1: typing agrees
    *in_all_encodings(
        scenario("E1", "three keys", "def f(total):⏎    │⏎", Ask(shows="return total"), Type("r"),
                 Ask(shows="eturn total"), Type("e"), Ask(shows="turn total"), Type("t"), Ask(shows="urn total"),
                 Fills(1), plays=["return total"])
    ),
    scenario("E1", "a burst", "def f(total):⏎    │⏎", Ask(), Keystrokes("return to", shows="tal"), Fills(1),
             plays=["return total"]),
    scenario("E1", "keys that nobody asks after", "x = │⏎", Ask(), Type("tot"), Ask(shows="al"), Fills(1),
             plays=["total"]),
    scenario("E1", "back and forth", "x = │⏎", Ask(shows="total"), Type("tot"), Ask(shows="al"), Erase(2),
             Ask(shows="otal"), Type("ot"), Ask(shows="al"), Erase(3), Ask(shows="total"), Fills(1), plays=["total"]),
    scenario("E1", "over a line end", "if a:⏎    │⏎", Ask(shows="b()⏎    c()"), Type("b()⏎    "), Ask(shows="c()"),
             Fills(1), plays=["b()⏎    c()"]),
    scenario("E1", "a pair that the editor closes", "x = f│⏎", Ask(shows="(a, b)"), Insert("(│)"), Ask(shows="a, b"),
             Accept(), Reads("x = f(a, b│)⏎"), plays=["(a, b)"]),
    scenario("E1", "a quote that the editor closes", "x = f(│)⏎", Ask(shows='"a"'), Insert('"│"'), Ask(shows="a"),
             Accept(), Reads('x = f("a│")⏎'), plays=['"a"']),
    scenario("E1", "a word at once", "x = │⏎", Ask(), Insert("total"), Ask(shows=" + 1"), Fills(1),
             plays=["total + 1"]),
    scenario("E1", "another document in between", "x = │⏎", Ask(shows="total"), Open("other", "y = │"), Ask(shows="1"),
             Type("1"), Open("example"), Type("to"), Ask(shows="tal"), plays=["total", "1"]),
    scenario("E1", "alternatives that agree", "x = │⏎", Ask(shows=("total", "text"), invoked=True), Type("t"),
             Ask(shows="otal"), Type("e"), Ask(shows="xt"), Fills(1), plays=[("total", "text")]),
    scenario("E1", "undo of a key", "x = │⏎", Ask(shows="total"), Type("t"), Ask(shows="otal"), Undo(),
             Ask(shows="total"), Fills(1), plays=["total"]),
    # E2: it disagrees
    scenario("E2", "hidden, and what is computed is cancelled", "x = │⏎", Ask(shows="total"), Type("x"), Begin(),
             Reached(2), Type("y"), End(error=STALE), Cancels(1), plays=["total", [Stall()]]),
    scenario("E2", "cancelled while it is computed", "x = │⏎", Begin(frames=True), Reached(), Type("y"),
             End(error=STALE), Cancels(1), plays=[[Show("tot"), Stall()]]),
    scenario("E2", "never the old one", "x = │⏎", Ask(shows="total"), Type("x"), Ask(shows="yz"), Accept(),
             Reads("x = xyz│⏎"), plays=["total", "yz"]),
    scenario("E2", "taken back", "x = │⏎", Ask(shows="total"), Type("x"), Erase(), Ask(shows="total"), Fills(1),
             plays=["total"]),
    scenario("E2", "case differs", "x = │⏎", Ask(shows="total"), Type("T"), Ask(shows="RUE"), Fills(2),
             plays=["total", "RUE"]),
    # E8: nothing is asked for that nobody asks for
    scenario("E8", "cursor moves", "a = 1⏎b = 2⏎c = 3⏎│", *(Move(text) for text in "abc" * 7), Fills(0)),
    scenario("E8", "documents are opened", "a│", *(Open(f"file{i}", f"x = {i}│") for i in range(10)), Fills(0)),
    scenario("E8", "documents are closed", "a│", Open("other", "b│"), Close(), Open("example"), Fills(0)),
    scenario("E8", "keys that nobody asks after", "a│", Type(" = 1⏎b = 2⏎"), Erase(3), Undo(), Fills(0)),
    # K2: what is accepted is one change, exactly
    scenario("K2", "one undo", "│", Type("123"), Ask(shows="456"), Accept(), Reads("123456│"), Undo(), Reads("123│"),
             plays=["456"]),
    scenario("K2", "one undo, several lines", "if a:⏎    │⏎", Ask(), Accept(), Undo(), Reads("if a:⏎    │⏎"),
             plays=["b()⏎    c()"]),
    scenario("K2", "one undo, closer", "f(│)⏎", Ask(), Accept(), Undo(), Reads("f(│)⏎"), plays=["a)"]),
    scenario("K2", "one undo after typing", "x = │⏎", Ask(), Type("to"), Ask(shows="tal"), Accept(), Undo(),
             Reads("x = to│⏎"), plays=["total"]),
    scenario("K2", "undo, then it is asked for again", "x = │⏎", Ask(shows="total"), Accept(), Undo(),
             Ask(shows="total"),
             Accept(), Reads("x = total│⏎"), plays=["total"], otherwise="total"),
    # L6: why nothing is shown
    scenario("L6", "blank", "x = │⏎", Ask(shows=None), Type("a"), Ask(shows=" + 1"), Reasons(("blank", None)),
             plays=["", " + 1"]),
    scenario("L6", "blank, asked again", "x = │⏎", Ask(shows=None), Ask(shows=None), Fills(1), Reasons(("blank",
             "blank")),
             Ask(shows="1", invoked=True), plays=["", "1"]),
    scenario("L6", "refused", "x = │⏎",
             Ask(shows="1"), Reject(), Ask(shows=None), Fills(1), Reasons((None, "rejected")),
             Ask(shows="1", invoked=True), plays=["1", "1"]),
    scenario("L6", "refused, then typed on", "x = │⏎", Ask(shows="total"), Reject(), Type("a"), Ask(shows="b"),
             plays=["total", "b"]),
    scenario("L6", "excluded", "x = │⏎", Ask(shows=None), Reasons(("excluded",)), Fills(0), path="example.py",
             files={".midfillignore": "*.py\n"}, same_text=False),
    scenario("L6", "no engine", "x = │⏎", Ask(shows=None), Reasons(("no_engine",)),
             plays=[[Fail(ErrorCode.OUT_OF_MEMORY)]]),
    scenario("L6", "there already", "a()⏎│⏎b()⏎", Ask(shows=None), Reasons(("follows_already",)), plays=["b()"]),
    scenario("L6", "switched off", "x = │⏎", Ask(shows=None), Reasons(("disabled",)), settings={"enabled": False}),
    scenario("L6", "too late", "x = │⏎", Ask(shows=None), Reasons(("deadline",)), plays=[[Stall()]],
             settings={"deadlineMs": 100}),
    scenario("L6", "syntax", "def f(a):⏎    return│⏎", Ask(shows=None), Reasons(("syntax",)), plays=[" a +* ] b("]),
    scenario("L6", "unsure", "x = │⏎", Ask(shows=None), Reasons(("unsure",)), Ask(shows="1", invoked=True),
             plays=[[Answer(("1",), scores=(-50.0,))], "1"]),
]
