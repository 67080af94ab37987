r"""Where a suggestion belongs. Owns: an editor's positions, and what must hold for an item before it may be applied.

Must not know: servers, requests. Texts have `\n` as their line end, as what is typed in a benchmark has.
"""

from __future__ import annotations

from typing import Any

from engine.bench.typist import Edit


def position_of(text: str, offset: int) -> dict[str, int]:
    """As editors count: in utf-16 units."""
    line_start = text.rfind("\n", 0, offset) + 1
    n_units = len(text[line_start:offset].encode("utf-16-le")) // 2
    return {"line": text.count("\n", 0, line_start), "character": n_units}


def suggested(item: Any, text: str, cursor: int) -> Edit | None:
    """An item as an edit of the text that it was asked for; None when it does not belong there.

    Its range lies on the cursor's line and holds the cursor; its text begins with what stands before the cursor there:
    accepting it changes nothing that was typed, and it says something new.
    """
    place, inserted = item.get("range"), item.get("insertText")
    if place is None or not isinstance(inserted, str):
        return None
    line = position_of(text, cursor)["line"]
    if place["start"]["line"] != line or place["end"]["line"] != line:
        return None
    start, end = _offset(text, place["start"]), _offset(text, place["end"])
    if start is None or end is None or not start <= cursor <= end:
        return None
    new = inserted.removeprefix(text[start:cursor])
    kept = len(new) < len(inserted) or start == cursor
    fits = kept and new.strip() and inserted != text[start:end] and "\r" not in inserted
    covered = item.get("filterText")
    return Edit(start, end, inserted) if fits and (covered is None or covered.startswith(text[start:cursor])) else None


def _offset(text: str, position: dict[str, int]) -> int | None:
    """The place of a position; None beyond its line's end or inside a character."""
    start = 0
    for _ in range(position["line"]):
        start = text.find("\n", start) + 1
        if not start:
            return None
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)].encode("utf-16-le")
    head = line[: 2 * position["character"]]
    try:
        return start + len(head.decode("utf-16-le")) if len(head) == 2 * position["character"] else None
    except UnicodeDecodeError:
        return None
