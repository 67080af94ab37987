"""Shaping, case by case."""

from __future__ import annotations

import pytest

from engine.protocol import Span
from lsp_server.shaping import shape, shaped_text
from tests.shaping.cases import place_of, text_of

CLOSERS = [
    ("np.array(│)", "[1, 2, 3])", "[1, 2, 3]"),
    ("f(g[│])", "i + 1])", "i + 1"),
    ("print(│)", "foo()", "foo()"),
    ("print(│)", "foo())", "foo()"),
    ("print(│)", '"hi"', '"hi"'),
    ("x = (│)", "(a, b)", "(a, b)"),
    ("x = (│)", "a, b)", "a, b"),
    ("foo(bar(│)", "x)", "x)"),
    ("foo(bar(│)", "x))", "x)"),
    ("foo(bar(│)⏎y = 3", "x)", "x)"),
    ("foo(bar(│))", "x))", "x"),
    ("foo(a,⏎    b│)", ", c)", ", c"),
    ("x = {│}", '"a": 1}', '"a": 1'),
    ("x = {│}", '"a": {}}', '"a": {}'),
    ("x = [│]", "[1], [2]]", "[1], [2]"),
    ('print("│")', 'hello"', "hello"),
    ('print("│")', 'hello")', "hello"),
    ("print('│')", "hello')", "hello"),
    ("print(│)", "'it')", "'it'"),
    ('print(f"│")', '{x}")', "{x}"),
    ('print(f"│")', '{x["a"]}', '{x["a"]}'),
    ('print("it\'s │")', 'fine")', "fine"),
    ('x = "│"', 'a" + "b', 'a" + "b'),
    ("def f(│):", "a, b):", "a, b"),
    ("def f(│):⏎    pass", "a, b):", "a, b"),
    ("def f(│)", "a, b):", "a, b):"),
    ("a(⏎  │⏎)⏎", "x⏎)", "x"),
    ("a(⏎  │⏎)⏎", "x)", "x"),
    ("foo(bar(⏎  │⏎)⏎", "x⏎)", "x⏎)"),
    ("np.array(│)⏎print(1)", "[1])⏎print(1)", "[1]"),
    ("np.array(│)", "[1])⏎print(x)", "[1]"),
    ("f(│)", "a)⏎g(b", "a)⏎g(b"),
]
WORDS = [
    ("import L from './│.astro';", "other-layout.astro';", "other-layout"),
    ("return │foo", "self.foo", "self."),
    ("x = │bar", "foobar", "foo"),
    ("f(a│, b)", "aa,", "aa"),
    ("if x│:", " == 3:", " == 3"),
    ("total = │ + 1", "x + 1", "x"),
    ("total = │ + 1", "x ", "x"),
    ("a = self.│x", "x + y", "x + y"),
]
LINES = [
    ("x = 1⏎│⏎y = 22⏎", "z = 3⏎y = 22", "z = 3"),
    ("x = 1⏎│⏎⏎y = 22⏎", "z = 3⏎⏎y = 22⏎", "z = 3"),
    ("x = 1⏎│⏎y = 22⏎w = 3", "z = 3⏎y = 22⏎w = 3", "z = 3"),
    ("def f():⏎    │⏎    return total⏎", "total = 1⏎    return total", "total = 1"),
    ("def f():⏎    │⏎    return total⏎", "total = 1⏎    return tota", "total = 1⏎    return tota"),
    ("def f():⏎    │⏎    return total + something_more⏎", "total = 1⏎    return total + somethi", "total = 1"),
    ("def f():⏎    │⏎    return None⏎", "if x:⏎        return None", "if x:⏎        return None"),
    ("x = [⏎    0,⏎    │⏎    0,⏎]", "0,⏎    0,", "0,⏎    0,"),
    ("a()⏎│b()⏎", "x()⏎b()", "x()⏎"),
]
BLANKS = [
    ("def f():⏎│", "    return 1⏎⏎", "    return 1"),
    ("def f():⏎│", "    return 1   ", "    return 1"),
    ("x = │", " 5", "5"),
    ("x =│", " 5", " 5"),
    ("x = 1 │", " # one", " # one"),
    ("x = │", "⏎", ""),
    ("", "", ""),
    ("│", "   ", ""),
    ("x = │", "", ""),
    ("if x:⏎    │", "⏎    y()", "y()"),
    ("x = 1│⏎", "⏎⏎y = 2⏎", "⏎⏎y = 2"),
]
INDENTATION = [
    ("if x:⏎    │", "    y()", "y()"),
    ("if x:⏎    │", "y()⏎z()", "y()⏎    z()"),
    ("if x:⏎    │", "    y()⏎    z()", "y()⏎    z()"),
    ("if x:⏎    if y:⏎    │", "    z()", "    z()"),
    ("if x:⏎    if y:⏎    │", "        z()", "    z()"),
    ("if x:⏎    │", "y()⏎⏎def z():⏎    pass", "y()⏎⏎def z():⏎    pass"),
    ("if x:⏎    │⏎z()", "y()⏎w()", "y()⏎w()"),
    ("class A:⏎    def f(self):│", "⏎    return 1", "⏎        return 1"),
    ("class A:⏎    def f(self):│", "⏎        return 1", "⏎        return 1"),
    ("def f():⏎    x = foo(a,⏎            │", "        b)", "        b)"),
    ("def f():⏎    x = foo(│", "a,⏎            b)", "a,⏎            b)"),
    ('def f():⏎    x = """│', "⏎a⏎  b⏎", "⏎a⏎  b"),
]


@pytest.mark.parametrize("place, answer, expected", CLOSERS + WORDS + LINES + BLANKS + INDENTATION)
def test_shape(place: str, answer: str, expected: str) -> None:
    assert shaped_text(text_of(answer), place_of(place)) == text_of(expected)


OTHER_LANGUAGES = [
    ("go", "func f() {⏎│", "    return 1⏎}", "→return 1⏎}"),
    ("go", "package a⏎⏎func f() {⏎→x()⏎}⏎⏎func g() {⏎│", "    if x {⏎        y()⏎    }⏎}", "→if x {⏎→→y()⏎→}⏎}"),
    ("go", "func f() {⏎→│⏎}", "    return 1⏎}", "return 1"),
    ("go", "func f() {⏎→│⏎}", "return 1⏎}", "return 1"),
    ("python", "if x:⏎→y()⏎if z:⏎│", "    w()", "→w()"),
    (
        "json",
        '{⏎  "a": {⏎    "b": {⏎      "c": {⏎        │',
        '"x": {⏎            "y": 1⏎        }',
        '"x": {⏎          "y": 1⏎        }',
    ),
    (
        "json",
        '{⏎  "a": {⏎    "b": {⏎      "c": {│',
        '⏎          "x": [⏎              1⏎          ]⏎      }',
        '⏎        "x": [⏎          1⏎        ]⏎      }',
    ),
    (
        "javascript",
        "function g() {⏎  return 0;⏎}⏎function f(a) {⏎  │⏎}⏎",
        "if (a) {⏎        return 1;⏎    }",
        "if (a) {⏎    return 1;⏎  }",
    ),
    ("javascript", "if (x) {⏎  │⏎}⏎", "y();⏎}", "y();"),
    ("javascript", "function f() {⏎  if (x) {⏎    │⏎}⏎", "y();⏎  }", "y();⏎  }"),
    ("javascript", "foo(function() {│});", "⏎  bar();⏎});", "⏎  bar();⏎"),
    ("html", "<div│>", ' class="a">', ' class="a"'),
    ("java", "List<│> x;", "String>", "String"),
    ("java", "List<│> x;", "Map<String, Integer>", "Map<String, Integer>"),
    ("cpp", "if (a -│> b)", "> c -", "> c -"),
    ("c", "switch (x) {⏎    switch (y)│", " {⏎    case 1:", " {⏎    case 1:"),
    ("typescript", "const x = `│`;", "a ${b}`;", "a ${b}"),
]


@pytest.mark.parametrize("language, place, answer, expected", OTHER_LANGUAGES)
def test_shape_in_other_languages(language: str, place: str, answer: str, expected: str) -> None:
    assert shaped_text(text_of(answer), place_of(place, language)) == text_of(expected)


def test_frames_keep_their_settled_parts() -> None:
    place = place_of("if x:⏎→y()⏎if z:⏎│")
    spans = (Span("    w", True), Span("()\n    ", False), Span("v()", True), Span("\n\n", False))
    expected = (Span("\tw", True), Span("()\n", False), Span("\tv()", True))
    assert shape(spans, place) == expected


def test_a_frame_says_what_the_final_text_says() -> None:
    place = place_of("np.array(│)")
    frame = shape((Span("[1, 2", True), Span(", 3])", False)), place)
    assert "".join(span.text for span in frame) == shaped_text("[1, 2, 3])", place)
