"""Simple ways to finish a text that ends in the middle of something. Owns: what they are, in each kind of language.

Must not know: parsers. They need not make sense; one of them should make a beginning that is all right a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lsp_server.shaping.lines import lead_of
from lsp_server.shaping.place import Place
from lsp_server.shaping.scanner import PAIRS, is_quote, open_string, tokens

_CLOSERS: Final = {opener: closer for closer, opener in PAIRS.items()}
_WHOLE: Final = frozenset(")]}\"'`")
_PYTHON: Final = ("", ",", ":{body}", ": x,", "():{body}", " in x:{body}", " import x", " else x", "=x")
_PYTHON_LINES: Final = ("{line}def x():{body}", "{line}finally:{body}", "{line}pass")
_BRACES: Final = ("", ";", ",", "{}", "(){}", "(x){}", " = x;", ": x", ": x;", ": x,", " => x", " in x{}", " of x){}")
_WORDS: Final = {
    "ruby": ("", "\nend", "\nend\nend"),
    "lua": ("", " = x", "\nend", " then\nend", " do\nend", " in x do\nend", "()\nend", "\nuntil x"),
    "julia": ("", "\nend", "()\nend", " in x\nend"),
    "elixir": ("", " do\nend", "\nend", "() do\nend"),
    "shellscript": (
        "",
        "\nfi",
        "; then\nx\nfi",
        "; do\nx\ndone",
        "\nx\ndone",
        " in x; do\nx\ndone",
        ") x;;\nesac",
        "(){ x; }",
    ),
    "yaml": ("", ": x"),
    "toml": ("", " = 1", "]"),
    "json": ("", ": 1"),
    "jsonc": ("", ": 1"),
    "css": ("", ": x;", "{}"),
    "scss": ("", ": x;", "{}"),
}


def endings(text: str, place: Place) -> Iterator[str]:
    """What could follow a text; first nothing."""
    yield ""
    said = place.before[-4096:] + text
    if quote := open_string(said):
        yield quote
    statement = place.head + text
    line = statement.rstrip()
    lead = lead_of(line[line.rfind("\n") + 1 :])
    closers = "".join(_CLOSERS.get(token, token) for token in reversed(_left_open(statement, place.language)))
    forms = _PYTHON if place.language == "python" else _WORDS.get(place.language, _BRACES)
    body = f"\n{lead}{place.unit.text}pass"
    for form in forms:
        for stub in _stubs(text):
            yield stub + closers + (form.format(body=body) if "{body}" in form else form)
    if forms is _BRACES and closers:
        yield f"; x{closers}{{}}"
        yield f"; x; x{closers}{{}}"
    if len(closers) > 1:
        yield f"{closers[0]}: x{closers[1:]}"
    if place.language == "python":
        for form in _PYTHON_LINES:
            yield closers + form.format(body=body, line="\n" + lead)


def _stubs(text: str) -> tuple[str, ...]:
    """What is missing at the end of a text before anything else: a name, or nothing."""
    last = text.rstrip()[-1:]
    if last in _WHOLE:
        return ("",)
    return ("", " x") if last.isalnum() or last == "_" else ("x", "")


def _left_open(text: str, language: str) -> list[str]:
    """Brackets and quotes that a text leaves open, outermost first."""
    left: list[str] = []
    for token, _ in tokens(text, language):
        mark = token.lstrip()
        if mark in _CLOSERS or (mark and is_quote(mark)):
            left.append(mark)
        elif left and PAIRS.get(mark) == left[-1]:
            left.pop()
    return left
