"""Brackets and strings of some text, in any language. Owns: telling them from strings and comments, roughly.

Must not know: places. It need not be exact: what follows from it is always a comparison of two texts that differ in
little, so that what is misread in both does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from lsp_server.shaping.lines import lead_of

_HASH: Final = frozenset(
    """python ruby shellscript yaml toml perl r julia elixir makefile dockerfile nix powershell coffeescript graphql
    cmake terraform crystal properties""".split()  # noqa: SIM905
)
_DASHES: Final = frozenset(["lua", "sql", "haskell", "elm", "ada", "vhdl"])
_NONE: Final = frozenset(["html", "xml", "markdown", "plaintext", "json", "latex", "bibtex", ""])
_STRINGS: Final = (
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)',
    r"'''(?:[^\\]|\\.)*?(?:'''|\Z)",
    r'"(?:[^"\\\n]|\\.)*"',
    r"'(?:[^'\\\n]|\\.)*'",
    r"`[^`]*`",
)
PAIRS: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
_QUOTES: Final = "\"'`"
_AHEAD_OF_OPENING: Final = re.compile(r"(?:^|[=(\[{,:+]|\breturn)\s*[a-zA-Z]{0,2}$")
_SINGLE: Final = frozenset([*PAIRS, *PAIRS.values(), *_QUOTES])


@cache
def _token(language: str, angles: bool) -> re.Pattern[str]:
    comments = [r"//[^\n]*", r"/\*.*?\*/"]
    if language in _HASH:
        comments = [r"#[^\n]*"]
    elif language in _DASHES:
        comments = [r"--[^\n]*"]
    elif language in _NONE:
        comments = []
    angle = [r"[-=]>|[<>]=|<<|[<>]"] if angles else []
    return re.compile("|".join([*comments, *_STRINGS, r"\n[ \t]*[)\]}]?", *angle, r"[()\[\]{}\"'`]"]), re.DOTALL)


def tokens(text: str, language: str, *, angles: bool = False) -> Iterator[tuple[str, int]]:
    r"""Single brackets, quotes that nothing closes, and line ends, in order and each with its place.

    A line end comes with the blanks behind it, and with the bracket behind those if it closes something. `angles`: `<`
    and `>` are brackets too, where they aren't parts of arrows and comparisons.
    """
    for found in _token(language, angles).finditer(text):
        token = found[0]
        if token in _SINGLE or token[0] == "\n":
            yield token, found.start()


def open_string(before: str) -> str:
    """The triple quote of the string of several lines that a text ends in; empty: it ends in none.

    The last quote tells it by how it stands in its line, and only if it stands alone, their number: a quote within a
    comment, or above what is known of a text, would turn the rest of it inside out.
    """
    at, quote = max((before.rfind(quote), quote) for quote in ('"""', "'''"))
    if at < 0:
        return ""
    start = before.rfind("\n", 0, at) + 1
    ahead, behind = before[start:at], before[at + 3 :].partition("\n")[0]
    if not _AHEAD_OF_OPENING.search(ahead):
        return ""
    if any(line.strip() and len(lead_of(line)) < len(ahead) for line in before[at:].split("\n")[1:-1]):
        return ""  # the text of a string is not shallower than its quote
    if ahead.strip() or behind.strip() or before[:start].rstrip().endswith((":", "{")):
        return quote
    return quote if before.count(quote) % 2 else ""


def is_quote(token: str) -> bool:
    """Whether a token is a quote that nothing closes."""
    return token[0] in _QUOTES


def lines_in_strings(text: str, language: str, open_string: str = "") -> frozenset[int]:
    """Numbers of the lines that begin within a string of several lines. `open_string`: the quote open at the start."""
    if '"""' not in text and "'''" not in text and "`" not in text and not open_string:
        return frozenset()
    start = 0
    inside: set[int] = set()
    if open_string:
        end = text.find(open_string)
        start = end + len(open_string) if end >= 0 else len(text)
        inside.update(range(text.count("\n", 0, start) + 1))
    for found in _token(language, False).finditer(text, start):
        token = found[0]
        if token[0] not in _QUOTES:
            continue
        first = text.count("\n", 0, found.start())
        inside.update(range(first + 1, first + 1 + token.count("\n")))
    return frozenset(inside)
