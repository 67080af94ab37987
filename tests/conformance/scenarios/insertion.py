"""A: what is inserted fits what stands there: no closer, quote, word or line twice, no stray blank, no empty item."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario, inserts, scenario
from tests.conformance.steps import STALE, Accept, Ask, Begin, Cancels, End, Fills, Reached, Reads, Replace, Type
from tests.engine_script import Stall

# fmt: off
SCENARIOS: Final[list[Scenario]] = [
    # A1: a closer that is there already
    inserts("A1", "closer", "np.array(│)", "[1, 2, 3])", "np.array([1, 2, 3])"),
    inserts("A1", "two closers", "f(g(│))", "x))", "f(g(x))"),
    inserts("A1", "one of two closers", "f(g(│))", "x)", "f(g(x))"),
    inserts("A1", "closer and semicolon", "foo(│);", "a);", "foo(a);", language="javascript"),
    inserts("A1", "closer and code behind it", "y = foo(│) + 1", "a)", "y = foo(a) + 1"),
    inserts("A1", "closer and the next line", "foo(│)⏎bar()⏎", "a)⏎bar()", "foo(a)⏎bar()⏎"),
    inserts("A1", "own opener", "print(│)", "foo()", "print(foo())"),
    inserts("A1", "own pair", "x = (│)", "(a, b)", "x = ((a, b))"),
    inserts("A1", "own opener, then the one that is there", "print(│)", "foo())", "print(foo())"),
    inserts("A1", "closer on its own line", "foo(⏎    │⏎)⏎", "a,⏎    b,⏎)", "foo(⏎    a,⏎    b,⏎)⏎"),
    inserts("A1", "brace of a block", "function f() {⏎  │⏎}⏎", "return 1;⏎}", "function f() {⏎  return 1;⏎}⏎",
            language="javascript"),
    inserts("A1", "CRLF", "foo(│)⏎bar()⏎", "a)", "foo(a)⏎bar()⏎", line_end="\r\n"),
    # A2: pairs that the editor has closed
    inserts("A2", "brackets", "f(g[│])", "i + 1])", "f(g[i + 1])"),
    inserts("A2", "parentheses", "f(g(│))", "i + 1))", "f(g(i + 1))"),
    inserts("A2", "braces", "f({│})", '"a": 1})', 'f({"a": 1})'),
    inserts("A2", "angles", "let x: Vec<│> = y;", "String> = y;", "let x: Vec<String> = y;", language="rust"),
    inserts("A2", "angles alone", "let x: Vec<│>", "String>", "let x: Vec<String>", language="rust"),
    inserts("A2", "double quotes", 'print("│")', 'hello")', 'print("hello")'),
    inserts("A2", "single quotes", "print('│')", "hello')", "print('hello')"),
    inserts("A2", "backticks", "const s = `│`;", "a${b}`;", "const s = `a${b}`;", language="javascript"),
    inserts("A2", "three quotes", 'def f():⏎    """│"""⏎', 'Do it."""', 'def f():⏎    """Do it."""⏎'),
    inserts("A2", "quotes of a format", 'x = f"│"', '{a}"', 'x = f"{a}"'),
    inserts("A2", "apostrophe inside", 'print("│")', "it's\")", 'print("it\'s")'),
    inserts("A2", "tag", '<div class="│"></div>', 'a"></div>', '<div class="a"></div>', language="html"),
    inserts("A2", "element", "<p>│</p>", "text</p>", "<p>text</p>", language="html"),
    # A3: no client repairs anything here; the same when asked for by hand
    scenario("A3", "by hand", "f(g[│])", Ask(invoked=True), Accept(), Reads("f(g[i + 1])"), plays=["i + 1])"]),
    scenario("A3", "each alternative", "np.array(│)", Ask(invoked=True), Accept(1), Reads("np.array([3])"),
             plays=[("[1, 2])", "[3])", "[4]")]),
    # A4: a closer behind the cursor suppresses nothing
    scenario("A4", "parenthesis", "print(│)", Ask(shows='"hi"'), plays=['"hi"']),
    scenario("A4", "bracket", "x = [│]", Ask(shows="1, 2"), plays=["1, 2"]),
    scenario("A4", "brace", "x = {│}", Ask(shows='"a": 1'), plays=['"a": 1']),
    scenario("A4", "quote", 'open("│")', Ask(shows="a.txt"), plays=["a.txt"]),
    scenario("A4", "many", "f(g(h(│)));", Ask(shows="1"), plays=["1"], language="javascript"),
    # A5: the tail of the answer is the tail of the line
    inserts("A5", "path", "import L from './│.astro';", "other-layout.astro';", "import L from './other-layout.astro';",
            language="typescript"),
    inserts("A5", "expression", "x = foo│ + bar", "(1) + bar", "x = foo(1) + bar"),
    inserts("A5", "condition", "return a│ if b else c", "[0] if b else c", "return a[0] if b else c"),
    inserts("A5", "last word", "foo(alpha, │beta)", "gamma, beta)", "foo(alpha, gamma, beta)"),
    inserts("A5", "line", "def f(a):⏎    │⏎    return b⏎", "b = a⏎    return b", "def f(a):⏎    b = a⏎    return b⏎"),
    inserts("A5", "line with blanks between", "def f(a):⏎    │⏎⏎    return b⏎", "b = a⏎    return b",
            "def f(a):⏎    b = a⏎⏎    return b⏎"),
    inserts("A5", "several lines", "def f(a):⏎    │⏎    c = b⏎    return c⏎", "b = a⏎    c = b⏎    return c",
            "def f(a):⏎    b = a⏎    c = b⏎    return c⏎"),
    inserts("A5", "comment", "x = │  # seconds", "60  # seconds", "x = 60  # seconds"),
    # A7: what has been typed of it is not inserted again
    scenario("A7", "one key", "foob│", Ask(shows="ar"), Type("a"), Ask(shows="r"), Fills(1), Accept(),
             Reads("foobar│"), plays=["ar"]),
    scenario("A7", "all but one key", "x = │", Ask(shows="total"), Type("tota"), Ask(shows="l"), Fills(1), Accept(),
             Reads("x = total│"), plays=["total"]),
    scenario("A7", "over a line end", "if a:⏎    │", Ask(), Type("b()⏎    c"), Ask(shows="()"), Fills(1), Accept(),
             Reads("if a:⏎    b()⏎    c()│"), plays=["b()⏎    c()"]),
    scenario("A7", "over a line end, CRLF", "if a:⏎    │", Ask(), Type("b()⏎    c"), Ask(shows="()"), Fills(1),
             Accept(), Reads("if a:⏎    b()⏎    c()│"), plays=["b()⏎    c()"], line_end="\r\n"),
    scenario("A7", "astral", "s = '│", Ask(), Type("😀"), Ask(shows="é😀'"), Fills(1), Accept(),
             Reads("s = '😀é😀'│"), plays=["😀é😀'"]),
    # A8: an explicit range on one line, everywhere (the stage looks at each item)
    scenario("A8", "empty document", "│", Ask(shows="x = 1"), plays=["x = 1"]),
    scenario("A8", "no last line end", "a⏎b = │", Ask(shows="1"), plays=["1"]),
    scenario("A8", "last line empty", "a⏎│", Ask(shows="b"), plays=["b"]),
    scenario("A8", "several lines", "def f():⏎    │⏎", Ask(shows="a()⏎    b()"), plays=["a()⏎    b()"]),
    scenario("A8", "alternatives", "x = │⏎", Ask(shows=("1", "2", "3"), invoked=True), plays=[("1", "2", "3")]),
    scenario("A8", "selected item", "x.ap│⏎", Ask(selected="append", shows="pend(1)"), plays=["(1)"]),
    # A9: the lines that it belongs to are gone
    scenario("A9", "line deleted", "a⏎b⏎c│", Begin(), Reached(), Replace("⏎c", ""), End(error=STALE), Cancels(1),
             Ask(shows=" = 1"), plays=[[Stall()], " = 1"]),
    scenario("A9", "all deleted", "a⏎b⏎c│", Begin(), Reached(), Replace("a⏎b⏎c", ""), End(error=STALE), Cancels(1),
             Reads("│"), Ask(shows="x = 1"), plays=[[Stall()], "x = 1"]),
    scenario("A9", "lines above deleted", "a⏎b⏎c│", Begin(), Reached(), Replace("a⏎b⏎", ""), End(error=STALE),
             Cancels(1), plays=[[Stall()]]),
    # A10: no blank line at the end
    inserts("A10", "two line ends", "def f():⏎│", "    return 1⏎⏎", "def f():⏎    return 1│"),
    inserts("A10", "one line end", "def f():⏎│", "    return 1⏎", "def f():⏎    return 1│"),
    inserts("A10", "blanks", "def f():⏎│", "    return 1⏎    ⏎  ", "def f():⏎    return 1│"),
    inserts("A10", "text follows", "def f():⏎│⏎⏎def g():⏎    pass⏎", "    return 1⏎⏎⏎",
            "def f():⏎    return 1│⏎⏎def g():⏎    pass⏎"),
    inserts("A10", "CRLF", "def f():⏎│⏎x⏎", "    return 1⏎⏎", "def f():⏎    return 1│⏎x⏎", line_end="\r\n"),
    inserts("A10", "nothing but blanks", "def f():⏎    │", "⏎    ⏎", None),
    # A11: no blank twice
    inserts("A11", "assignment", "x = │", " 5", "x = 5"),
    inserts("A11", "argument", "foo(a, │)", " b", "foo(a, b)"),
    inserts("A11", "keyword", "return │", " a", "return a"),
    inserts("A11", "comment", "# │", " hello", "# hello"),
    inserts("A11", "tab before", "x =→│", " 5", "x =→5"),
    inserts("A11", "none before", "x =│", " 5", "x = 5"),
    # A12: lines come in above while it is computed
    scenario("A12", "five lines above", "a = 0⏎b = │⏎", Begin(), Reached(), Replace("a = 0", "#⏎#⏎#⏎#⏎#⏎a = 0"),
             End(error=STALE), Ask(shows="1"), Accept(), Reads("#⏎#⏎#⏎#⏎#⏎a = 0⏎b = 1│⏎"), plays=[[Stall()], "1"]),
    scenario("A12", "after it was shown", "a = 0⏎b = │⏎", Ask(shows="1"), Replace("a = 0", "#⏎#⏎a = 0"), Ask(),
             Accept(),
             Reads("#⏎#⏎a = 0⏎b = 1│⏎"), plays=["1"], otherwise="1"),
    # A14: it is there already
    inserts("A14", "next line", "a()⏎│⏎b()", "b()", None),
    inserts("A14", "next line and line end", "a()⏎│⏎b()⏎", "b()⏎", None),
    inserts("A14", "next line after blank ones", "a()⏎│⏎⏎⏎b()⏎", "b()", None),
    inserts("A14", "next line, indented", "if a:⏎    │⏎    b()⏎", "b()", None),
    inserts("A14", "next two lines", "a()⏎│⏎b()⏎c()⏎", "b()⏎c()", None),
    inserts("A14", "rest of the line", "foo(│bar)", "bar)", None),
    inserts("A14", "CRLF", "a()⏎│⏎b()⏎", "b()", None, line_end="\r\n"),
    inserts("A14", "only closers", "foo(a│)⏎", ")", None),
]
