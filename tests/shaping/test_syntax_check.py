"""Which texts bring syntax errors into a document, language by language."""

from __future__ import annotations

import sys

import pytest

from lsp_server.shaping import Place, SyntaxCheck
from lsp_server.shaping.grammars import GRAMMARS
from lsp_server.shaping.source_tree import SourceTree
from tests.shaping.cases import place_of, text_of


@pytest.fixture(scope="module")
def check() -> SyntaxCheck:
    return SyntaxCheck()


FINE = [
    ("python", "x = │⏎", "foo(1)"),
    ("python", "x = foo(│⏎y = 1⏎", "1, 2)"),
    ("python", "x = foo(│)⏎", "1, 2"),
    ("python", "def f():⏎    │⏎", "return 1"),
    ("python", "def f():⏎    │⏎", "for x in y:"),
    ("python", "def f():⏎    │⏎", "for x in"),
    ("python", "def f():⏎    │⏎", "if x and"),
    ("python", "def f():⏎    │⏎", "try:⏎        foo()"),
    ("python", "def f():⏎    try:⏎        │⏎", "foo()"),
    ("python", "│⏎", "from os"),
    ("python", "│⏎x = 1⏎", "def f(a, b"),
    ("python", "│⏎x = 1⏎", "class A"),
    ("python", "│⏎x = 1⏎", "@property"),
    ("python", "│⏎x = 1⏎", "x = {⏎    'a': 1,"),
    ("python", "│⏎x = 1⏎", 'x = "some'),
    ("python", "x = [⏎    │⏎    2,⏎]⏎", "1"),
    ("python", 'def f():⏎    """Say │⏎    """⏎', "what (it does"),
    ("python", "x = )⏎y = │⏎", "1"),
    ("python", "x = │⏎y = ((⏎", "1"),
    ("python", "def f(:⏎    x = │⏎", "1"),
    ("javascript", "const x = │;⏎", "a.map((y) => y + 1)"),
    ("javascript", "function f() {⏎  │⏎}⏎", "if (x) {"),
    ("javascript", "function f() {⏎  │⏎}⏎", "const x = foo("),
    ("typescript", "function f(): string {⏎  │⏎}⏎", "const x: number[] = [1];"),
    ("typescriptreact", "const a = () => (⏎  │⏎);⏎", "<div>hi</div>"),
    ("java", "class A {⏎  void f() {⏎    │⏎  }⏎}⏎", "int x = 1;"),
    ("java", "class A {⏎  void f() {⏎    │⏎  }⏎}⏎", "for (int i = 0; i < 3"),
    ("c", "int main(void) {⏎  │⏎}⏎", "return 0;"),
    ("c", "/* Say │⏎int main(void) {⏎  return 0;⏎}⏎", "what (it does"),
    ("cpp", "int main() {⏎  │⏎}⏎", "std::vector<int> x{1, 2};"),
    ("csharp", "class A {⏎  void F() {⏎    │⏎  }⏎}⏎", "var x = 1;"),
    ("go", "package a⏎⏎func f() {⏎→│⏎}⏎", "if x := g(); x != nil {⏎→→return⏎→}"),
    ("rust", "fn f() {⏎    │⏎}⏎", "let x = vec![1, 2];"),
    ("ruby", "def f⏎  │⏎end⏎", "x.each do |y|"),
    ("php", "<?php⏎function f() {⏎  │⏎}⏎", "return $x;"),
    ("lua", "function f()⏎  │⏎end⏎", "if x then"),
    ("shellscript", "f() {⏎  │⏎}⏎", "if [ -n x ]; then"),
    ("kotlin", "fun f() {⏎    │⏎}⏎", "val x = 1"),
    ("swift", "func f() {⏎    │⏎}⏎", "let x = 1"),
    ("scala", "object A {⏎  │⏎}⏎", "val x = 1"),
    ("json", "{⏎  │⏎}⏎", '"a": 1'),
    ("toml", "[a]⏎│⏎", "b = 1"),
    ("yaml", "a:⏎  │⏎", "b: 1"),
    ("css", "a {⏎  │⏎}⏎", "color: red;"),
    ("plaintext", "│", "( ( ("),
]


@pytest.mark.parametrize("language, place, text", FINE)
def test_a_text_that_fits(check: SyntaxCheck, language: str, place: str, text: str) -> None:
    assert not check.adds_errors(text_of(text), place_of(place, language))


WRONG = [
    ("python", "x = │⏎", "foo(1))"),
    ("python", "x = │⏎", "1 2 3"),
    ("python", "def f():⏎    │⏎", "return return 1"),
    ("python", "def f():⏎    x = 1⏎    │⏎", "for for in x"),
    ("python", "x = foo(│)⏎", "1, ], 2"),
    ("python", "x = )⏎y = │⏎", "1 2 3"),
    ("javascript", "const x = │;⏎", "a.map((y) => y + 1))"),
    ("javascript", "function f() {⏎  │⏎}⏎", "return } else {"),
    ("typescript", "function f(): string {⏎  │⏎}⏎", "const const x = 1;"),
    ("java", "class A {⏎  void f() {⏎    │⏎  }⏎}⏎", "int x = = 1;"),
    ("c", "int main(void) {⏎  │⏎}⏎", "return 0));"),
    ("cpp", "int main() {⏎  │⏎}⏎", "x = (1;);"),
    ("go", "package a⏎⏎func f() {⏎→│⏎}⏎", "x := := 1"),
    ("rust", "fn f() {⏎    │⏎}⏎", "let let x = 1;"),
    ("php", "<?php⏎function f() {⏎  │⏎}⏎", "return $x));"),
    ("json", "{⏎  │⏎}⏎", '"a": 1 2 3'),
    ("css", "a {⏎  │⏎}⏎", "color: red;}}}"),
]


@pytest.mark.parametrize("language, place, text", WRONG)
def test_a_text_that_brings_errors(check: SyntaxCheck, language: str, place: str, text: str) -> None:
    assert check.adds_errors(text_of(text), place_of(place, language))


@pytest.mark.parametrize("grammar", sorted(set(GRAMMARS.values())))
def test_every_grammar_is_there(grammar: str) -> None:
    SourceTree(grammar).errors(b"x\n")


def test_a_tree_is_read_anew_only_where_the_text_changes() -> None:
    tree, once = SourceTree("python"), SourceTree("python")
    texts = ["x = (1\n", "x = (1)\n", "é = (1)\n\ny = 😀\n", "é = (1)\n\ny = '😀'\n", "", "def f(:\n", "x\n" * 50 + ")"]
    for text in texts:
        source = text.encode()
        assert tree.errors(source) == SourceTree("python").errors(source)
    assert once.errors(b"x = (") == once.errors(b"x = (")


def test_it_lets_go_of_old_trees(check: SyntaxCheck) -> None:
    for language in ["python", "go", "rust", "java", "lua", "ruby", "c", "python"]:
        check.prepare(Place("x = 1\n", "", language))
    assert not check.adds_errors("1", Place("x = ", "\n", "python"))


def test_grammars_are_loaded_when_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_language_pack", None)
    assert not SyntaxCheck().adds_errors("((", Place("", "", "plaintext"))
