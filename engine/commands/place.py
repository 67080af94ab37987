"""`FILE:LINE:COL` on the command line. Owns: its grammar. Must not know: whether the file has such a place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from attrs import frozen

from engine.commands.errors import BadInputError

_PLACE: Final = re.compile(r"(?P<file>.+?):(?P<line>\d{1,12})(?::(?P<column>\d{1,12}))?", re.DOTALL)


@frozen
class Place:
    """A place in a file, counted as people and compilers count."""

    path: Path
    line: int
    """From 1."""
    column: int | None
    """From 1, in characters (code points); None: the end of the line."""


def parse_place(told: str) -> Place:
    """`FILE:LINE` or `FILE:LINE:COL`. Raises `BadInputError`."""
    found = _PLACE.fullmatch(told)
    if found is None:
        raise BadInputError(f"{told!r} is no place; write FILE:LINE:COL or FILE:LINE, both counted from 1")
    line, column = int(found["line"]), int(found["column"]) if found["column"] is not None else None
    if line < 1 or (column is not None and column < 1):
        raise BadInputError(f"{told!r}: lines and columns are counted from 1")
    return Place(Path(found["file"]), line, column)
