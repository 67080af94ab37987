"""Where a region's text ends when the model does not say so. Owns: the rules. Must not know: tokens, models.

Small causal models hardly ever stop at a hole's end: they go on with what the suffix says already, with more code, then
with an explanation in a chat's words. Each rule is about form only, and looks at nothing but the text on either side.
"""

from __future__ import annotations

import re
from typing import Final

_ECHO_CHARACTERS: Final = 12
"""Visible characters of the suffix that must be repeated before they count as the suffix itself."""
_OPENING_CHARACTERS: Final = 4
"""Visible characters of the suffix's first line that count when a line of the region begins with them."""
_NEAR: Final = 4000
"""Characters on either side that are looked at."""
_CLOSER: Final = re.compile(rb"[)\]};,\s]*|\s*end\b[;,)\s]*")
"""A line that only closes what is open."""
_FENCE: Final = b"```"


class Boundary:
    """The end of one region."""

    def __init__(self, prefix: str = "", suffix: str = "", max_lines: int = 0) -> None:
        """`prefix`, `suffix`: the text on either side. `max_lines`: lines allowed; 0: any number."""
        near_prefix, near_suffix = prefix[-_NEAR:], suffix[:_NEAR]
        before = next((line for line in reversed(near_prefix.split("\n")) if line.strip()), "")
        cursor_line = near_prefix.rpartition("\n")[2]
        self._first_line = _first_whole_line(near_prefix, near_suffix)
        self.depth = min(_indent(before), _indent(self._first_line))
        """Columns that every further line is indented by at least: a shallower one would end the block that the suffix
        goes on with. At least 1 when the region begins in an indented line: it does not begin new code at the top."""
        self._begins_line = not cursor_line.strip()
        if _indent(cursor_line):
            self.depth = max(self.depth, 1)
        self.echo = echo_of(near_suffix)
        self._echo = re.compile(re.escape(self.echo.rstrip("\n").encode("utf-8", "replace")) + rb"(?!\w)")
        self._ends_block = _indent(self._first_line) < _indent(before)
        self._has_fences = "```" in near_prefix or "```" in near_suffix
        self._last_line_end = b"" if suffix.startswith("\n") else b"\n"
        self._max_lines = max_lines

    def cut(self, data: bytes, *, complete: bool) -> bytes:
        """The part of `data` that lies in the region. `complete`: nothing follows, so the last line is a whole one."""
        if self._max_lines:
            data = b"\n".join(data.split(b"\n")[: self._max_lines])
        if self.echo and (found := self._echo.search(data)):
            data = data[: found.start()]
        end = data.find(b"\n") + 1
        depth = self.depth
        if self._begins_line and data[:1] in (b" ", b"\t"):
            depth = max(depth, 1)
        while end:
            newline = data.find(b"\n", end)
            line = data[end : newline if newline >= 0 else len(data)]
            if line.strip() and self._is_outside(line, depth, whole=complete or newline >= 0):
                return data[:end].rstrip() + self._last_line_end
            end = newline + 1
        return data

    def whole_lines(self, data: bytes) -> bytes:
        """The part of `data` before its last, unfinished line; ends as a region cut by `cut` does. May be empty."""
        lines = data[: data.rfind(b"\n") + 1].rstrip()
        return lines + self._last_line_end if lines else b""

    def _is_outside(self, line: bytes, depth: int, *, whole: bool) -> bool:
        if line.lstrip().startswith(_FENCE) and not self._has_fences:
            return True
        opening = self._first_line.rstrip().encode("utf-8", "replace")
        if self._ends_block and opening:
            if len(b"".join(opening.split())) >= _OPENING_CHARACTERS:
                if line.startswith(opening):
                    return True
            elif whole and line.rstrip() == opening:
                return True
        shallow = _indent(line.decode("utf-8", "replace")) < depth
        return shallow and not _CLOSER.fullmatch(line)


def echo_of(suffix: str) -> str:
    """The beginning of `suffix` that can't be there by chance: whole lines, with a dozen visible characters at least.

    Empty when the suffix has less than that.
    """
    visible = 0
    suffix = suffix[:_NEAR]
    for line in re.finditer(r"[^\n]*\n|[^\n]+$", suffix):
        visible += len("".join(line[0].split()))
        if visible >= _ECHO_CHARACTERS:
            return suffix[: line.end()]
    return ""


def _first_whole_line(prefix: str, suffix: str) -> str:
    """The suffix's first line that is not blank, and not the rest of the line that the region begins in."""
    rest, _, after = suffix.partition("\n")
    inside_line = bool(rest.strip()) and bool(prefix) and not prefix.endswith("\n")
    return next((line for line in (after if inside_line else suffix).split("\n") if line.strip()), "")


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip(" "))
