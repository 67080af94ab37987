"""J: the cells of a notebook are one program, in order."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, scenario
from tests.conformance.steps import Accept, Ask, Notebook, Prompt, Reads, Type

_PY: Final = "python"

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    scenario("J1", "cells above", "", Notebook((("1", _PY, "a=1"), ("2", _PY, "print(│"))), Ask(shows="a)"),
             Prompt("print(", has=("a=1",)), Accept(), Reads("print(a)│"), plays=["a)"]),
    scenario("J1", "in order", "", Notebook((("1", _PY, "first = 1"), ("2", _PY, "second = 2"), ("3", _PY, "x = │"))),
             Ask(), Prompt("x = ", has=("first = 1",)), plays=["1"]),
    scenario("J1", "cells below", "", Notebook((("1", _PY, "x = │"), ("2", _PY, "print(x)"))), Ask(shows="1"),
             Prompt("x = ", has=("print(x)",)), plays=["1"]),
    scenario("J1", "text between", "", Notebook((("1", _PY, "a=1"), ("2", "markdown", "# Title"), ("3", _PY,
             "print(│"))),
             Ask(), Prompt("print(", has=("a=1",))),
    scenario("J1", "while typing", "", Notebook((("1", _PY, "a=1"), ("2", _PY, "b = │"))), Ask(shows="total"),
             Type("to"),
             Ask(shows="tal"), Accept(), Reads("b = total│"), plays=["total"]),
    scenario("J1", "astral", "", Notebook((("1", _PY, "a='😀'"), ("2", _PY, "b = '😀│'"))), Ask(shows="é"), Accept(),
             Reads("b = '😀é│'"), plays=["é"]),
    # J3: the position is the cell's
    scenario("J3", "menu in the third cell", "",
             Notebook((("1", _PY, "a = [1]"), ("2", _PY, "b = 2"), ("3", _PY, "a.ap│"))),
             Ask(selected="append", shows="pend(b)"), Prompt("a.append"), Accept(), Reads("a.append(b)│"),
             plays=["(b)"]),
    scenario("J3", "menu, second line of a cell", "", Notebook((("1", _PY, "import os"), ("2", _PY,
             "x = 1⏎os.pa│⏎y = 2"))),
             Ask(selected="path", shows="th.join(x)"), Prompt("x = 1⏎os.path", "⏎y = 2"), plays=[".join(x)"]),
]
