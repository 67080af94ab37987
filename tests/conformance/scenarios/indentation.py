"""B and C: the document's own unit of indentation, its tabs, its line ends."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, inserts, scenario
from tests.conformance.steps import Accept, Ask, Prompt, Reads

_JSON: Final = '{⏎  "a": {⏎    "b": {⏎      "c": {⏎        │⏎      }⏎    }⏎  }⏎}⏎'
_GO: Final = "package p⏎⏎func g() int {⏎→return 0⏎}⏎⏎func f() int {⏎"
_C: Final = "int g(void)⏎{⏎→return 0;⏎}⏎⏎int f(int a)⏎{⏎"

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # B1: the unit is the file's
    inserts("B1", "two in JSON", _JSON, '"d": {⏎            "e": 1⏎        }',
            _JSON.replace("│", '"d": {⏎          "e": 1⏎        }'), language="json"),
    inserts("B1", "two in JavaScript", "function g() {⏎  return 0;⏎}⏎function f(a) {⏎  │⏎}⏎",
            "if (a) {⏎        return 1;⏎    }",
            "function g() {⏎  return 0;⏎}⏎function f(a) {⏎  if (a) {⏎    return 1;⏎  }⏎}⏎",
            language="javascript"),
    inserts("B1", "two in Python", "def g():⏎  if x:⏎    return 0⏎⏎def f(a):⏎  │",
            "if a:⏎      return 1", "def g():⏎  if x:⏎    return 0⏎⏎def f(a):⏎  if a:⏎    return 1"),
    inserts("B1", "four stay four", "def g():⏎    if x:⏎        return 0⏎⏎def f(a):⏎    │", "if a:⏎        return 1",
            "def g():⏎    if x:⏎        return 0⏎⏎def f(a):⏎    if a:⏎        return 1"),
    inserts("B1", "two, and the model too", "def g():⏎  if x:⏎    return 0⏎⏎def f(a):⏎  │", "if a:⏎    return 1",
            "def g():⏎  if x:⏎    return 0⏎⏎def f(a):⏎  if a:⏎    return 1"),
    # B2: tabs stay tabs
    inserts("B2", "Go at column 0", _GO + "│", "    return 1⏎}", _GO + "→return 1⏎}", language="go"),
    inserts("B2", "Go behind a tab", _GO + "→│", "return 1⏎}", _GO + "→return 1⏎}", language="go"),
    inserts("B2", "Go, nested", _GO + "→│", "if a {⏎        return 1⏎    }", _GO + "→if a {⏎→→return 1⏎→}",
            language="go"),
    inserts("B2", "Go, model has tabs", _GO + "│", "→return 1⏎}", _GO + "→return 1⏎}", language="go"),
    inserts("B2", "C, nested", _C + "→│", "if (a)⏎        return 1;", _C + "→if (a)⏎→→return 1;", language="c"),
    inserts("B2", "make", "all:⏎│", "    echo hi", "all:⏎→echo hi", language="makefile"),
    inserts("B2", "Python with tabs", "def g():⏎→return 0⏎⏎def f(a):⏎→│", "if a:⏎        return 1",
            "def g():⏎→return 0⏎⏎def f(a):⏎→if a:⏎→→return 1"),
    inserts("B2", "CRLF", _GO + "│", "    return 1⏎}", _GO + "→return 1⏎}", language="go", line_end="\r\n"),
    # B3: what is typed of the indentation is neither eaten nor doubled
    inserts("B3", "typed and given", "if x:⏎    │", "    y()", "if x:⏎    y()"),
    inserts("B3", "typed and not given", "if x:⏎    │", "y()⏎z()", "if x:⏎    y()⏎    z()"),
    inserts("B3", "given on the second line", "if x:⏎    │", "y()⏎    z()", "if x:⏎    y()⏎    z()"),
    inserts("B3", "given on both", "if x:⏎    │", "    y()⏎    z()", "if x:⏎    y()⏎    z()"),
    inserts("B3", "not typed", "if x:⏎│", "    y()⏎    z()", "if x:⏎    y()⏎    z()"),
    inserts("B3", "half typed", "if x:⏎  │", "  y()", "if x:⏎    y()"),
    inserts("B3", "tab typed and given", "if x:⏎→│", "→y()", "if x:⏎→y()"),
    inserts("B3", "end of the block", "if x:⏎    │", "y()⏎else:⏎    z()", "if x:⏎    y()⏎else:⏎    z()"),
    # C1: CRLF
    inserts("C1", "closer on the next line", "a(⏎  │⏎)⏎", "x⏎)", "a(⏎  x⏎)⏎", line_end="\r\n"),
    inserts("C1", "lone CR", "a(⏎  │⏎)⏎", "x⏎)", "a(⏎  x⏎)⏎", line_end="\r"),
    inserts("C1", "several lines", "def f():⏎    │⏎", "a()⏎    b()", "def f():⏎    a()⏎    b()⏎", line_end="\r\n"),
    scenario("C1", "the model sees none", "a(⏎  │⏎)⏎", Ask(), Prompt("a(⏎  ", "⏎)⏎"), line_end="\r\n"),
    scenario("C1", "mixed", "a\r\nif b:\n    │\nc\r\n", Ask(shows="x()\n    y()"), Accept(),
             Reads("a\r\nif b:\n    x()\n    y()│\nc\r\n"), plays=["x()⏎    y()"]),
    scenario("C1", "last line", "a⏎if b:⏎    │", Ask(), Accept(), Reads("a⏎if b:⏎    x()⏎    y()│"),
             plays=["x()⏎    y()"], line_end="\r\n"),
    scenario("C1", "the model sends some", "if b:⏎    │⏎", Ask(), Accept(), Reads("if b:⏎    x()⏎    y()│⏎"),
             plays=["x()\r\n    y()\r\n"]),
]
