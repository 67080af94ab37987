"""What one level of indentation is in a document. Owns: telling it from the lines, and defaults by language."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final

from attrs import frozen

from lsp_server.shaping.lines import begins_with_closer, columns, lead_of, opens_block

_TABS: Final = frozenset({"go", "makefile", "gdscript"})
_TWO: Final = frozenset(
    """javascript javascriptreact typescript typescriptreact json jsonc yaml html css scss less xml vue svelte ruby lua
    dart scala elixir haskell ocaml nix clojure erlang r markdown graphql terraform proto proto3 crystal""".split()  # noqa: SIM905
)
_ENOUGH: Final = 0.1
"""Share of a document's levels that makes a step one of its own."""
_STRAY: Final = 0.05
"""Share of lines with spaces that says nothing in a document with tabs."""
_LONGEST: Final = 8
_BLOCK: Final = 3
"""What a step behind a line that opens a block counts for; other steps are often alignment."""


@frozen
class IndentUnit:
    """One level."""

    text: str
    steps: frozenset[int] = frozenset()
    """All steps in columns that the document makes; empty: it tells nothing, and `text` is the language's habit."""

    is_mixed: bool = False
    """Tabs and spaces side by side: what is right can't be told."""

    @property
    def is_tab(self) -> bool:
        """Whether the document indents with tabs."""
        return self.text == "\t"


def unit_of(text: str, language: str) -> IndentUnit:
    """The unit of some lines. Only steps deeper count: a step back may be several levels, comments stand anywhere."""
    if language == "makefile":
        return IndentUnit("\t")
    n_tabs = n_spaces = 0
    steps: Counter[int] = Counter()
    last = ""
    for line in text.split("\n"):
        if not line or line.isspace():
            continue
        if line[0] == "\t":
            n_tabs += 1
            n_spaces += line.lstrip("\t").startswith("  ")
        elif last and (line[0] == " " or last[0] == " "):
            step = columns(lead_of(line)) - columns(lead_of(last))
            if line.startswith("  "):
                n_spaces += 1
            if 1 < step <= _LONGEST:
                steps[step] += _BLOCK if opens_block(last) else 1
        last = line
    is_mixed = n_spaces > _STRAY * n_tabs if n_tabs > n_spaces else n_tabs > 0
    if n_tabs > n_spaces or (n_tabs == n_spaces and language in _TABS):
        return IndentUnit("\t", frozenset({4}) if n_tabs else frozenset(), is_mixed)
    if not steps:
        return IndentUnit(_default(language), is_mixed=is_mixed)
    total = steps.total()
    own = frozenset(step for step, n in steps.items() if n >= total * _ENOUGH)
    return IndentUnit(" " * _commonest(steps), own, is_mixed)


def _commonest(steps: Counter[int]) -> int:
    return max(steps, key=lambda step: (steps[step], step in (2, 4, 8), -step))


def _default(language: str) -> str:
    if language in _TABS:
        return "\t"
    return "  " if language in _TWO else "    "


def block_steps(lines: list[str]) -> list[int]:
    """The steps in columns that lines make into blocks. Behind `(` there may be any."""
    visible = [line.rstrip() for line in lines if line.strip()]
    return [
        columns(lead_of(inner)) - columns(lead_of(outer))
        for outer, inner in pairwise(visible)
        if opens_block(outer) and not outer.endswith("(") and not begins_with_closer(inner)
    ]
