"""Where a text is to go. Owns: the text on both sides, and what can be told from it, each found once and only if asked.

Must not know: LSP, the engine, what the model said.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import attrs

from lsp_server.shaping.indent_unit import IndentUnit, unit_of
from lsp_server.shaping.lines import columns, lead_of
from lsp_server.shaping.scanner import open_string

_UNIT_BEFORE: Final = 12_000
_UNIT_AFTER: Final = 6_000
"""Characters around the cursor that the unit of indentation is told from."""


@attrs.frozen
class Place:
    r"""A region between two texts, with `\n` as the only line end, as far as a window reaches."""

    before: str
    after: str
    language: str = ""
    """LSP's language id."""

    @cached_property
    def head(self) -> str:
        """The cursor's line, up to the cursor."""
        return self.before[self.before.rfind("\n") + 1 :]

    @cached_property
    def rest(self) -> str:
        """The cursor's line, behind the region."""
        return self.after.partition("\n")[0]

    @cached_property
    def begins_line(self) -> bool:
        """Whether there is nothing but indentation before the cursor on its line."""
        return not self.head.strip()

    @cached_property
    def ends_line(self) -> bool:
        """Whether there is nothing behind the cursor on its line."""
        return not self.rest.strip()

    @cached_property
    def line_above(self) -> str:
        """The last line above the cursor's that is not blank; empty if there is none."""
        above = self.before[: len(self.before) - len(self.head)].rstrip()
        return above[above.rfind("\n") + 1 :]

    @cached_property
    def following(self) -> tuple[str, ...]:
        """The next lines behind the cursor's that are not blank."""
        near = self.after[len(self.rest) :][:4096]
        return tuple(line.rstrip() for line in near.split("\n") if line.strip())

    @cached_property
    def next_columns(self) -> int | None:
        """Indentation of the next line that is not blank; None: there is none."""
        return columns(lead_of(self.following[0])) if self.following else None

    @cached_property
    def unit(self) -> IndentUnit:
        """How the document indents."""
        return unit_of(self.before[-_UNIT_BEFORE:] + self.after[:_UNIT_AFTER], self.language)

    @cached_property
    def open_string(self) -> str:
        """The triple quote of the string that the cursor is in; empty: it is in none."""
        return open_string(self.before)

    @cached_property
    def in_comment(self) -> bool:
        """Whether the cursor is in a comment of the kind that has an end."""
        near = self.before[-_UNIT_BEFORE:]
        return near.rfind("/*") > near.rfind("*/")
