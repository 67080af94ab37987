r"""Where names are defined, and the short form of a definition. Owns: one pattern for each family of languages.

Must not know: files, the index. Regular expressions and indentation in place of grammars: they read unfinished code,
cost microseconds a line and no memory, and a definition that is missed costs one snippet.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from attrs import frozen

_LONGEST_LINE: Final = 300


@frozen
class Definition:
    """A name and the line that defines it."""

    name: str
    line: int


def _compiled(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


_MODIFIERS: Final = r"(?:(?:[a-z]\w*|@\w+)[ \t]+){0,6}"
_C_FUNCTION: Final = (
    r"[ \t]*(?:[A-Za-z_][\w:<>,.]*(?:\[\])?[*&]*[ \t]+(?:[*&]+[ \t]*)?){1,5}(?:\w+::)*"
    r"(?!if|for|while|switch|return|else|new)(~?\w+)[ \t]*\([^;=]*$"
)
_SCRIPT: Final = _compiled(
    r"[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:declare[ \t]+)?(?:abstract[ \t]+)?(?:async[ \t]+)?"
    r"(?:function\*?|class|interface|type|enum|namespace)[ \t]+([\w$]+)",
    r"(?:export[ \t]+)?(?:const|let|var)[ \t]+([\w$]+)",
    r"[ \t]+(?:(?:public|private|protected|static|async|readonly|override|get|set)[ \t]+)*"
    r"(?!if|for|while|switch|catch|function|return|constructor)([\w$]+)\([^;]*\{[ \t]*$",
)
_C: Final = _compiled(
    r"[ \t]*#[ \t]*define[ \t]+(\w+)",
    r"[ \t]*(?:typedef[ \t]+)?(?:struct|union|enum(?:[ \t]+class)?|class|namespace)[ \t]+(\w+)[^;]*$",
    r"[ \t]*using[ \t]+(\w+)[ \t]*=",
    _C_FUNCTION,
)
_JAVA: Final = _compiled(
    rf"[ \t]*{_MODIFIERS}(?:class|interface|enum|record|struct|trait|object|protocol|extension|fun|func|def|typealias)"
    r"[ \t]+(\w+)",
    _C_FUNCTION,
)
_PATTERNS: Final = {
    "python": _compiled(
        r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)",
        r"(?:type[ \t]+)?([A-Za-z_]\w*)[ \t]*(?::[^=]+)?=(?!=)",
    ),
    "go": _compiled(r"func[ \t]+(?:\([^)]*\)[ \t]*)?(\w+)", r"(?:type|var|const)[ \t]+(\w+)", r"\t(\w+)[ \t]+=[ \t]"),
    "rust": _compiled(
        r"[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:(?:async|const|unsafe|extern(?:[ \t]+\"[^\"]*\")?)[ \t]+)*"
        r"(?:fn|struct|enum|trait|type|union|static|const|macro_rules!)[ \t]+(\w+)"
    ),
    "ruby": _compiled(r"[ \t]*(?:def|class|module)[ \t]+(?:self\.)?(\w+)", r"([A-Z]\w*)[ \t]*=(?!=)"),
    "lua": _compiled(r"[ \t]*(?:local[ \t]+)?function[ \t]+(?:[\w.]+[.:])?(\w+)", r"local[ \t]+(\w+)[ \t]*="),
    "php": _compiled(rf"[ \t]*{_MODIFIERS}(?:function|class|interface|trait|enum|const)[ \t]+&?(\w+)"),
    "shellscript": _compiled(r"(?:function[ \t]+)?([\w-]+)[ \t]*\(\)"),
    "elixir": _compiled(r"[ \t]*(?:defmodule|defp?|defmacrop?)[ \t]+([\w.]+)"),
    "dart": _JAVA,
    "swift": _JAVA,
    "csharp": _JAVA,
    **dict.fromkeys(("java", "kotlin", "scala", "groovy"), _JAVA),
    **dict.fromkeys(("c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"), _C),
    **dict.fromkeys(("javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte"), _SCRIPT),
}


def definitions_in(lines: Sequence[str], language: str) -> list[Definition]:
    """The definitions in `lines`, but for those within functions; none in languages that are not known here."""
    pattern = _PATTERNS.get(language)
    if pattern is None:
        return []
    found = []
    around: list[tuple[int, bool]] = []
    """Indentation of the definitions that the line lies in, and whether they are types."""
    for index, line in enumerate(lines):
        if len(line) <= _LONGEST_LINE and (match := pattern.match(line)):
            indentation = _indentation(line)
            while around and around[-1][0] >= indentation:
                around.pop()
            is_local = bool(around) and not around[-1][1]
            around.append((indentation, _TYPE.match(line) is not None))
            name = match[match.lastindex or 0]
            if len(name) > 1 and not is_local:
                found.append(Definition(name, index))
    return found


_LONGEST_HEAD, _LONGEST_BODY, _MOST_MEMBERS, _FIRST_LINES = 8, 200, 12, 3
_TYPE: Final = re.compile(
    r"[ \t]*(?:[\w@()]+[ \t]+)*?"
    r"(?:class|struct|enum|interface|trait|type|record|union|protocol|object|module|defmodule|namespace)\b"
)
_FIELD: Final = re.compile(r"[ \t]*(?:[\w*&<>\[\],.?]+[ \t]+)*[\w$?]+[ \t]*(?:[:=;,]|$)")
_QUOTES: Final = re.compile(r"""[ \t]*[rRuU]?(\"{3}|'{3})""")


def outline(lines: Sequence[str], start: int, language: str) -> str:
    """The short form of the definition at line `start`.

    Its signature and its documentation's first line; of a type its members, of a function its first lines. The whole
    body says less per token than the next definition's signature.
    """
    first = start
    while first > max(0, start - 2) and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    after = _head_end(lines, start)
    pattern = _PATTERNS.get(language)
    kept = [*lines[first:after]]
    is_type = _TYPE.match(lines[start]) is not None
    body = _body(lines, after, _indentation(lines[start]))
    if body and (quotes := _QUOTES.match(body[0])):
        mark = quotes[1]
        line = body[0].rstrip()
        kept.append(line if line.count(mark) > 1 else line + mark)
        ends = next((i for i, text in enumerate(body) if mark in (text if i else text[quotes.end() :])), len(body) - 1)
        body = body[ends + 1 :]
    if is_type and body:
        level = min((_indentation(line) for line in body if line.strip()), default=0)
        members = [line for line in body if line.strip() and len(line) <= _LONGEST_LINE and _indentation(line) == level]
        kept += [
            line for line in members if (pattern is not None and pattern.match(line)) or _FIELD.match(line.rstrip())
        ][:_MOST_MEMBERS]
    elif body:
        kept += [line for line in body if line.strip()][:_FIRST_LINES]
    return textwrap.dedent("\n".join(line.rstrip() for line in kept if len(line) <= _LONGEST_LINE))


def _head_end(lines: Sequence[str], start: int) -> int:
    depth = 0
    for index in range(start, min(len(lines), start + _LONGEST_HEAD)):
        line = lines[index]
        depth += sum(map(line.count, "([")) - sum(map(line.count, ")]"))
        if depth <= 0:
            return index + 1
    return min(len(lines), start + _LONGEST_HEAD)


def _body(lines: Sequence[str], start: int, indentation: int) -> list[str]:
    body: list[str] = []
    for line in lines[start : start + _LONGEST_BODY]:
        if line.strip() and _indentation(line) <= indentation:
            break
        body.append(line)
    while body and not body[0].strip():
        del body[0]
    return body


def _indentation(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
