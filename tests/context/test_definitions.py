"""Definitions in many languages, and their short forms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.context.chunks import chunks_of
from lsp_server.context.definitions import definitions_in, outline
from lsp_server.context.identifiers import names_in, words_in

SOURCES = {
    "python": (
        "LIMIT: Final = 3\nclass Window:\n    def size(self):\n        def local(): pass\n"
        "async def run(a):\n    if a == 1:\n",
        {"LIMIT", "Window", "size", "run"},
    ),
    "typescript": (
        "export default class Box<T> {\n  private open(key: string): void {\n    if (key) {\n  }\n}\n"
        "export const make = () => {\nexport async function load(x) {\ninterface Shape {\ntype Id = string;\n",
        {"Box", "open", "make", "load", "Shape", "Id"},
    ),
    "go": (
        "func (s *Server) Run(ctx context.Context) error {\nfunc New() *Server {\ntype Server struct {\n"
        "var limit = 3\n",
        {"Run", "New", "Server", "limit"},
    ),
    "rust": (
        "pub(crate) struct Store<T> {\nimpl Store {\n    pub async fn load(&self) {\nenum Kind {\nconst MAX: u8 = 3;\n",
        {"Store", "load", "Kind", "MAX"},
    ),
    "java": (
        "public final class Cache {\n    private static List<String> read(Path file) throws IOException {\n"
        "        return load(file);\n        if (a) {\n",
        {"Cache", "read"},
    ),
    "kotlin": ("data class Point(val x: Int)\n    override fun area(): Double {\n", {"Point", "area"}),
    "csharp": ("public class Job\n{\n    public async Task<int> RunAsync(int n)\n    {\n", {"Job", "RunAsync"}),
    "c": (
        "#define SIZE 3\nstatic int read_all(struct buf *b)\n{\n    return go(b);\nstruct buf {\n",
        {"SIZE", "read_all", "buf"},
    ),
    "cpp": (
        "void Store::load(const Path& p) {\nclass Store : public Base {\nusing Id = int;\n",
        {"load", "Store", "Id"},
    ),
    "ruby": ("module App\n  class Job\n    def self.run(x)\n", {"App", "Job", "run"}),
    "lua": ("local function make(x)\nfunction M.open(y)\n", {"make", "open"}),
    "php": ("final class User {\n    public static function find($id)\n", {"User", "find"}),
    "shellscript": ("function build() {\nclean() {\n", {"build", "clean"}),
    "elixir": ("defmodule App.Job do\n  def run(x) do\n", {"App.Job", "run"}),
    "markdown": ("# class Nothing\n", set()),
}


@pytest.mark.parametrize("language", SOURCES)
def test_names(language: str) -> None:
    text, names = SOURCES[language]
    assert {definition.name for definition in definitions_in(text.split("\n"), language)} == names


PYTHON = '''
@frozen
class Window:
    """Text before and after a region.

    A second paragraph.
    """

    prefix: str
    suffix: str = ""

    def cut(
        self,
        size: int,
    ) -> Window:
        """Cut it."""
        inner = 1
        for x in range(size):
            inner += x
        return Window(inner)


def after():
    pass
'''
LINES = PYTHON.split("\n")


def test_a_class_is_its_members() -> None:
    assert outline(LINES, 2, "python").split("\n") == [
        "@frozen",
        "class Window:",
        '    """Text before and after a region."""',
        "    prefix: str",
        '    suffix: str = ""',
        "    def cut(",
    ]


def test_a_function_is_its_signature_and_first_lines() -> None:
    assert outline(LINES, 11, "python").split("\n") == [
        "def cut(",
        "    self,",
        "    size: int,",
        ") -> Window:",
        '    """Cut it."""',
        "    inner = 1",
        "    for x in range(size):",
        "        inner += x",
    ]


def test_a_struct_is_its_fields() -> None:
    lines = ["type Server struct {", "\tName string", "\tport int // of it", "}", "", "func x() {"]
    assert outline(lines, 0, "go").split("\n")[:2] == ["type Server struct {", "\tName string"]


@given(st.lists(st.sampled_from(["def f(", "", "  a: int,", ") -> x:", '    """', "x'''", "class A:", "  @b"])))
def test_any_lines_have_outlines(lines: list[str]) -> None:
    for definition in definitions_in(lines, "python"):
        assert len(outline(lines, definition.line, "python").split("\n")) <= 30


@pytest.mark.parametrize("language", SOURCES)
@pytest.mark.parametrize("piece", ["aa      ", "a ", "(", "a,b<c> ", "static ", "* & ", "x:y = ", "\t", "@a "])
def test_no_line_takes_long(language: str, piece: str) -> None:
    line = (piece * 300)[:299]
    definitions_in([line, line + "!"] * 20, language)
    outline([line, "  " + line] * 20, 0, language)


@given(st.lists(st.sampled_from(["", "a", "  b"]), max_size=200))
def test_chunks_cover_all_text_once(lines: list[str]) -> None:
    chunks = list(chunks_of(lines))
    covered = [line for chunk in chunks for line in range(chunk.first, chunk.after)]
    assert covered == sorted(set(covered))
    assert all(chunk.after - chunk.first <= 32 for chunk in chunks)
    assert not any(lines[line].strip() for line in set(range(len(lines))) - set(covered))


def test_words() -> None:
    assert list(names_in("self.loadConfig(x, from_file=3) if")) == ["loadConfig", "from_file"]
    assert list(words_in("loadConfig from_file HTTPServer2")) == [
        *("loadconfig", "load", "config"),
        *("from_file", "file"),
        *("httpserver2", "http", "server"),
    ]
