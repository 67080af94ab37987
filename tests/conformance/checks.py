"""What every answer and every frame must be like. Owns: those rules. Must not know: scenarios."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from tests.conformance.buffer import Buffer


def visible(item: types.InlineCompletionItem, buffer: Buffer) -> str:
    """What appears on the screen where an item is offered: its text without what stands there anyway."""
    assert isinstance(item.insert_text, str) and item.range is not None
    start, end = buffer.offset(item.range.start), buffer.offset(item.range.end)
    text = buffer.text[:start] + item.insert_text + buffer.text[end:]
    before, after = buffer.text[: buffer.cursor], buffer.text[buffer.cursor :]
    assert text.startswith(before) and text.endswith(after), f"{item.insert_text!r} does not fit around the cursor"
    return text[len(before) : len(text) - len(after)]


def check_items(items: Sequence[types.InlineCompletionItem], buffer: Buffer) -> None:
    """Each has a range on the cursor's line around the cursor, a filter text, and the document's line ends only."""
    cursor = buffer.position(buffer.cursor)
    for item in items:
        assert isinstance(item.insert_text, str) and item.insert_text, "an item of nothing"
        assert item.range is not None, "Neovim 0.12.0 can't do without a range"
        assert item.range.start.line == item.range.end.line == cursor.line
        assert item.range.start.character <= cursor.character <= item.range.end.character
        covered = buffer.text[buffer.offset(item.range.start) : buffer.cursor]
        assert item.filter_text is not None and item.filter_text.startswith(covered)
        ends = set(re.findall(r"\r\n|\r|\n", item.insert_text))
        assert ends <= (buffer.line_ends() or {"\n"}), f"line ends {ends}"
    texts = [item.insert_text for item in items]
    assert len(texts) == len(set(texts)), "the same twice"


def check_frames(frames: Sequence[Any], buffer: Buffer, *, ended_well: bool) -> None:
    """They belong to the request's text; there is one final one where it ended well, and none comes after it."""
    for frame in frames:
        assert frame.uri == buffer.uri
        assert frame.range.start.line == frame.range.end.line == buffer.position(buffer.cursor).line
    assert len({frame.version for frame in frames}) <= 1
    assert not any(frame.final for frame in frames[:-1])
    assert not frames or frames[-1].final == ended_well
