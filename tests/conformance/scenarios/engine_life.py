"""F and G7: the engine fails, dies, comes back, has another model or none."""

from __future__ import annotations

from typing import Final

from engine.protocol import ErrorCode
from tests.conformance.scenario import Scenario, scenario
from tests.conformance.steps import (
    Ask,
    Begin,
    End,
    Fills,
    Keystrokes,
    Kill,
    Messages,
    Prompt,
    Reached,
    Refuse,
    Remove,
    Restarts,
    State,
    Swap,
    Type,
)
from tests.engine_script import Die, Fail, LeaveSilently, Show, Stall
from tests.lsp.editor import FAILED

_NOT_FOUND: Final = [Fail(ErrorCode.INTERNAL, "404")]
_DIES: Final = [Die(returns=True)]

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # F5: after an error all is as before
    scenario("F5", "while typing", "x = │⏎", Ask(shows=None), Ask(shows="1"), Messages(0), plays=[_NOT_FOUND, "1"]),
    scenario("F5", "by hand", "x = │⏎", Ask(error=FAILED, invoked=True), Ask(shows="1", invoked=True), Messages(0),
             plays=[_NOT_FOUND, "1"]),
    scenario("F5", "the engine is full", "x = │⏎", Ask(shows=None), Ask(shows="1"), plays=[[Fail(ErrorCode.BUSY)],
             "1"]),
    scenario("F5", "no memory, after frames", "x = │⏎", Begin(), End(shows=None), Ask(shows="1"),
             plays=[[Show("a"), Fail(ErrorCode.OUT_OF_MEMORY)], "1"]),
    scenario("F5", "at each of many keys", "x = │⏎", Ask(), *(step for _ in range(5) for step in (Type("a"),
             Ask(shows=None))),
             Messages(0),
             otherwise=_NOT_FOUND),
    scenario("F5", "no answer", "x = │⏎", Ask(shows=None), Ask(shows="1"), plays=[[Stall()], "1"],
             settings={"deadlineMs": 100}),
    scenario("F5", "an engine that hangs", "x = │⏎", Ask(shows=None), Type("a"), Ask(shows=None), Messages(0),
             plays=[[LeaveSilently()]], settings={"deadlineMs": 100}, alone=True),
    # F6: one message for an outage
    scenario("F6", "gone for good", "x = │⏎", Ask(shows="1"), Remove(), State("stopped"), Keystrokes("abcde" * 40),
             Ask(shows=None), Ask(shows=None), Messages(1, "no engine"), plays=["1"], alone=True, messages=True),
    scenario("F6", "never there", "x = │⏎", Remove(), Keystrokes("abcde" * 40), Ask(shows=None),
             Ask(error=FAILED, invoked=True), Messages(1, "no engine"), alone=True, messages=True),
    scenario("F6", "back at once", "x = │⏎", Ask(shows="1"), Kill(), Type("1"), Ask(shows="2"), Messages(0),
             Restarts(1),
             plays=["1"], otherwise="2", alone=True),
    # F8: a model that can't do it
    scenario("F8", "told once, in words", "x = │⏎", Begin(), State("loading"), Refuse("this model cannot infill"),
             End(shows=None), Ask(shows=None), Type("a"), Ask(shows=None), Messages(1, "this model cannot infill"),
             loaded=False, messages=True, same_text=False),
    scenario("F8", "by hand", "x = │⏎", Begin(invoked=True), State("loading"), Refuse("this model cannot infill"),
             End(error=FAILED), Ask(error=FAILED, invoked=True), Messages(1, "this model cannot infill"),
             loaded=False, messages=True, same_text=False),
    # F9: another model
    scenario("F9", "swapped between", "x = │⏎", Ask(shows="1"), Swap("other"), Type("1"), Ask(shows="2"), Messages(0),
             plays=["1"], otherwise="2", alone=True),
    scenario("F9", "swapped while it is computed", "x = │⏎", Begin(), Reached(), Swap("other"), End(shows="2"),
             plays=[[Stall()], "2"], alone=True),
    # F10: a bounded number of restarts
    scenario("F10", "dies of each fill", "x = │⏎", *[Ask(shows=None)] * 6, State("off"), Restarts(3),
             Messages(1, "went away"), otherwise=_DIES, alone=True, messages=True, same_text=False),
    scenario("F10", "dies of each fill, by hand", "x = │⏎", *[Ask(error=FAILED, invoked=True)] * 4, State("off"),
             Restarts(3), Messages(1, "went away"), otherwise=_DIES, alone=True, messages=True, same_text=False),
    scenario("F10", "dies of each key", "x = │⏎", *(step for _ in range(6) for step in (Type("a"), Ask(shows=None))),
             State("off"), Restarts(3),
             Messages(1),
             otherwise=_DIES, alone=True, messages=True, same_text=False),
    scenario("F10", "dies once", "x = │⏎", Ask(shows="1"), Restarts(1), Messages(0), plays=[_DIES, "1"], alone=True),
    scenario("F10", "is asked the same again", "x = │⏎", Ask(shows="1"), Prompt("x = ", "⏎"), Fills(2),
             plays=[_DIES, "1"], alone=True),
    # G7: why it can't start
    scenario("G7", "no such model", "x = │⏎", Remove(), Ask(error=FAILED, invoked=True), State("failed"),
             Messages(1, "/no/such/model"), alone=True, messages=True),
    scenario("G7", "no such model, while typing", "x = │⏎", Remove(), Ask(shows=None), State("failed"), Type("1"),
             Ask(shows=None), Messages(1, "/no/such/model"), alone=True, messages=True),
]
