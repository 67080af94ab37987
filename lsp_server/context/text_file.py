"""A file's text, if it is text. Owns: the limits on what is read from disk. Must not know: what it is read for."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from attrs import frozen

from lsp_server.context.store import Stamp

MAX_BYTES: Final = 256 * 1024
_LONGEST_LINE_ON_AVERAGE: Final = 200
"""Beyond it nobody wrote the file by hand."""


@frozen
class TextFile:
    r"""What was read, with `\n` as the only line end."""

    stamp: Stamp
    lines: list[str]
    """Without their ends."""

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.lines)


def read_text_file(path: Path) -> TextFile | None:
    """The file's text; None for what is too large, no regular file, not UTF-8, binary or made by a program."""
    try:
        with open(path, "rb", opener=_no_wait) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
                return None
            data = opened.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    if len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(text) > _LONGEST_LINE_ON_AVERAGE * (len(lines) + 4):
        return None
    return TextFile(Stamp.of(status), lines)


def _no_wait(path: str, flags: int) -> int:
    """Opening a pipe would wait for its other end."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
