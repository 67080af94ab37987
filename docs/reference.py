"""Fills in the tables of docs/protocol.md from the types they are about. A test holds the page to them.

    .venv/bin/python docs/reference.py

A table stands between `<!-- NAME -->` and `<!-- end -->`, NAME being a class below; the rest of the page is written by
hand. Names, kinds and words come from the source, so a field without a docstring has an empty cell.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from enum import Enum
from pathlib import Path
from typing import Any

import attrs

from lsp_server import protocol_types
from lsp_server.config import ServerConfig
from lsp_server.engine_link import LinkState
from lsp_server.outcomes import Nothing

PAGE = Path(__file__).resolve().with_name("protocol.md")
TYPES = (
    protocol_types.FillParams,
    protocol_types.FillResult,
    protocol_types.FillCandidate,
    protocol_types.FrameParams,
    protocol_types.FrameSpan,
    protocol_types.Status,
    protocol_types.Recent,
    protocol_types.DidAcceptParams,
    protocol_types.DidRejectParams,
    ServerConfig,
    LinkState,
    Nothing,
)
_TABLE = re.compile(r"<!-- (?!end )(\w+) -->\n.*?<!-- end -->", re.DOTALL)
_WORDS = {"str": "string", "int": "integer", "bool": "boolean", "float": "number"}


def docstrings(cls: type) -> dict[str, str]:
    """What the source says under each field."""
    (body,) = (node.body for node in ast.parse(inspect.getsource(cls)).body if isinstance(node, ast.ClassDef))
    found: dict[str, str] = {}
    for node, after in zip(body, [*body[1:], None], strict=True):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(target := targets[0], ast.Name):
            says = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            found[target.id] = " ".join(str(says).split())
    return found


def table(cls: type[Any]) -> str:
    """The table of a class: of an enum its values, of settings their defaults, of a message its fields."""
    says = docstrings(cls)
    if issubclass(cls, Enum):
        rows = [(f"`{one.value}`", says[one.name]) for one in cls]
        return _laid_out(("value", "meaning"), rows)
    fields = [(f"`{_camel(one.name)}`", one, says[one.name]) for one in attrs.fields(cls)]
    if cls is ServerConfig:
        defaults = [(name, f"`{json.dumps(one.default)}`", text) for name, one, text in fields]
        return _laid_out(("setting", "default", "what it does"), defaults)
    return _laid_out(("field", "kind", "what it is"), [(name, _kind(one), text) for name, one, text in fields])


def filled_in(page: str) -> str:
    """The page with its tables made anew."""
    named = {cls.__name__: cls for cls in TYPES}
    return _TABLE.sub(lambda found: f"<!-- {found[1]} -->\n{table(named[found[1]])}<!-- end -->", page)


def _laid_out(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _kind(field: attrs.Attribute[Any]) -> str:
    kind = str(field.type).removeprefix("types.")
    optional = kind.endswith(" | None") or field.default is not attrs.NOTHING
    kind = kind.removesuffix(" | None")
    if kind == "dict[str, float]":
        kind = "object of numbers"
    if (many := re.fullmatch(r"tuple\[(.+), \.\.\.\]", kind)) is not None:
        kind = f"array of {many[1]}"
    return _WORDS.get(kind, kind) + (", optional" if optional else "")


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


if __name__ == "__main__":
    PAGE.write_text(filled_in(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
