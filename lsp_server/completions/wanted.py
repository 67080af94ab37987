"""A request for completion. Owns: the place and the text it is about. Must not know: LSP messages, the engine."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from lsprotocol.types import ProgressToken

from lsp_server.completions.cursor_text import CursorText
from lsp_server.documents import Document
from lsp_server.fills import Region
from lsp_server.positions import Point
from lsp_server.shaping import Place
from lsp_server.windows import Window, cut_window

_GOES_ON: Final = frozenset(" \t_=([,.+-*/%&|<>!@#?~^")
"""After one of these a line is not over. After a closer or a colon it may be."""


@frozen
class Selected:
    """The item that is selected in the editor's completion menu: the text behind the cursor must begin with it."""

    start: Point
    end: Point
    text: str

    def is_at(self, cursor: Point) -> bool:
        """Whether it lies on the cursor's line, around the cursor, and is of one line itself."""
        on_line = self.start.line == self.end.line == cursor.line and self.start <= cursor <= self.end
        return on_line and not {"\n", "\r"} & set(self.text)


@frozen(eq=False)
class Wanted:
    """What a request is about."""

    document: Document
    region: Region
    """What an item replaces: nothing, at the cursor, or what the selected menu item would replace."""
    lead: str
    """What every item begins with: the selected menu item's text."""
    window: Window
    """The text around, as if the selected menu item had been accepted."""
    cursor: CursorText
    place: Place
    """What texts are shaped for."""
    invoked: bool
    gate: bool
    """Whether to show nothing that the model doubts."""
    token: ProgressToken | None
    """Of the frames; None: none are wanted."""
    received_s: float

    @property
    def max_lines(self) -> int:
        """Lines that may be asked for; 0: any number.

        One where text follows, and, while somebody types, one where the cursor's line has begun and goes on: what is
        behind it is less sure and takes longer.
        """
        if not self.place.ends_line:
            return 1
        head = self.place.head
        if self.invoked or not head.strip():
            return 0
        goes_on = head[-1].isalnum() or head[-1] in _GOES_ON
        return 1 if goes_on else 0


def wanted(
    document: Document,
    at: Point,
    *,
    now_s: float,
    invoked: bool = False,
    gate: bool = True,
    selected: Selected | None = None,
    token: ProgressToken | None = None,
) -> Wanted:
    """A request at a cursor. A selected item over several lines, or away from the cursor, is not taken into account."""
    region, lead = Region(at, at), ""
    if selected is not None and selected.is_at(at):
        region, lead = Region(selected.start, selected.end), selected.text
    window = cut_window(document, region.start, region.end)
    if lead:
        window = Window(window.prefix + lead, window.suffix)
    place = Place(window.prefix, window.suffix, document.language)
    return Wanted(
        document, region, lead, window, CursorText.of(window), place, invoked, gate and not invoked, token, now_s
    )
