"""G and H: many keys, many files, a server that is switched off."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, scenario
from tests.conformance.steps import (
    Accept,
    Ask,
    Begin,
    Cancels,
    Configure,
    End,
    Fills,
    FillsAtMost,
    Go,
    Hold,
    Keystrokes,
    Open,
    Prompt,
    Reached,
    Reads,
    Type,
)
from tests.engine_script import Answer, Stall

_OFF: Final = {"enabled": False}
_LONG: Final = "".join(f"def function_{i}(a, b):⏎    return a + b * {i}⏎⏎" for i in range(600))
_TREE: Final = {f"package/module_{i}.py": f"VALUE_{i} = {i}\n" for i in range(500)}

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # G2: switched off
    scenario("G2", "ten files", "x = │⏎", *(step for i in range(10) for step in (Open(f"file{i}", "y = │"), Type("1"),
             Ask(shows=None))), Fills(0), settings=_OFF),
    scenario("G2", "by hand it works", "x = │⏎", Ask(shows=None), Ask(shows="1", invoked=True), Fills(1), plays=["1"],
             settings=_OFF),
    scenario("G2", "nothing is begun after what was accepted", "x = │⏎", Ask(shows="1", invoked=True), Accept(),
             Reads("x = 1│⏎"), Ask(shows=None), Fills(1), plays=["1"], settings=_OFF),
    scenario("G2", "this language", "x = │⏎", Ask(shows=None), Fills(0), Open("other", "x = │", "rust"), Ask(shows="1"),
             plays=["1"], settings={"disabledLanguages": ["python"]}),
    scenario("G2", "only that language", "x = │⏎", Ask(shows=None), Fills(0), Open("other", "x = │", "rust"),
             Ask(shows="1"), plays=["1"], settings={"languages": ["rust"]}),
    scenario("G2", "switched off while it runs", "x = │⏎", Ask(shows="1"), Configure(_OFF), Type("2"), Ask(shows=None),
             Fills(1), Configure({}), Type("2"), Ask(shows="3"), plays=["1", "3"], alone=True),
    # G4: many keys, few fills
    scenario("G4", "a hundred keys", "│⏎", Keystrokes("abcde fghi" * 10, shows="!"), FillsAtMost(2),
             Prompt("abcde fghi" * 10), otherwise="!"),
    scenario("G4", "a hundred keys, a slow engine", "│⏎", Keystrokes("abcde fghi" * 10), FillsAtMost(2),
             otherwise=[Stall()], settings={"deadlineMs": 400}),
    scenario("G4", "lines", "│⏎", Keystrokes("a = 1⏎" * 10, shows="b"), FillsAtMost(2), otherwise="b"),
    scenario("G4", "asked ten times at one place", "x = │⏎", *(Begin(f"{i}") for i in range(10)), FillsAtMost(2),
             Go("on"),
             *(End(f"{i}", error=(-32800, -32801)) for i in range(9)), End("9", shows="1"),
             otherwise=[Hold("on"), Answer.of("1")]),
    scenario("G4", "each pause asks once", "x = │⏎", *(step for _ in range(5) for step in (Type("a"), Ask(shows=None))),
             Fills(5)),
    scenario("G4", "a key overtakes what was asked by hand", "x = │⏎", Begin(invoked=True), Reached(), Type("a"),
             End(error=(-32800, -32801)), Cancels(1), Ask(shows="1"), plays=[[Stall()], "1"]),
    # H1: large files, many files
    scenario("H1", "1800 lines", _LONG + "x = │⏎" + _LONG, Keystrokes("function_7(1, 2)" * 3), FillsAtMost(2),
             Prompt("function_7(1, 2)" * 3), otherwise=""),
    scenario("H1", "1800 lines among 500 files", _LONG + "x = │⏎", Keystrokes("VALUE_7 + VALUE_8" * 3, shows="1"),
             FillsAtMost(2), otherwise="1", files=_TREE),
    scenario("H1", "CRLF", _LONG + "x = │⏎" + _LONG, Type("total"), Ask(shows="1"), Prompt("x = total"), plays=["1"],
             line_end="\r\n"),
]
