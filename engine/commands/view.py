"""A region in a terminal, with a few lines of its file around. Owns: how settled and tentative text look.

Must not know: the engine, files on disk. File text and model text are shown as data: control characters, with which a
file could steer the terminal, are drawn as pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.text import Text

from engine.protocol import Span

SETTLED: Final = "bold green"
TENTATIVE: Final = "dim italic yellow"
AROUND: Final = ""
_NUMBER: Final = "dim"
_TAB: Final = 4
_N_LINES: Final = 4
"""Lines shown before and after the region."""
_N_CHARS: Final = 400
"""Of one line of the file; a line may have megabytes."""
_NARROWEST: Final = 8
"""Cells for text, however narrow the terminal says it is."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class RegionView:
    """The region of one fill. `draw` gives what to show for the newest spans.

    The region's own lines are shown whole, in several rows where they are long; lines around it are cut to one row.
    """

    def __init__(self, prefix: str, suffix: str, line: int, width: int = 80, height: int = 0) -> None:
        r"""`prefix` and `suffix` have `\n` line ends; `line` is the region's first line, from 1.

        While the region converges at most `height` rows are drawn, the last ones; 0: all of them.
        """
        *before, here = prefix.rsplit("\n", _N_LINES)[-_N_LINES:]
        if len(here) > width // 2:  # the region has to be in view
            here = "…" + here[-(width // 2) :]
        self._before = [*(one[:_N_CHARS] for one in before), here]
        same, *after = suffix.split("\n", _N_LINES)[:_N_LINES]
        if after and suffix.count("\n") <= len(after) and not after[-1]:
            del after[-1]  # the file's last line end begins no line that could be seen
        if len(same) > width // 2:
            same = same[: width // 2] + "…"
        self._after = [same, *(one[:_N_CHARS] for one in after)]
        self._line = line
        self._width = width
        self._height = height
        self._n_rows = 0

    def draw(self, spans: Sequence[Span], *, final: bool = False) -> Text:
        """The region with the lines around it. It never gets lower again, but for the `final` picture: that is whole
        and has nothing below.
        """
        rows = self._rows(spans)
        if not final:
            if self._height:
                rows = rows[-self._height :]
            self._n_rows = max(self._n_rows, len(rows))
            rows += [Text()] * (self._n_rows - len(rows))  # no jump when the region gets shorter again
        drawn = Text("\n").join(rows)
        drawn.no_wrap, drawn.overflow = True, "crop"  # it is cut to fit already
        return drawn

    def _rows(self, spans: Sequence[Span]) -> list[Text]:
        body = Text(tab_size=_TAB)
        body.append(printable("\n".join(self._before)), AROUND)
        for span in spans:
            body.append(printable(span.text), SETTLED if span.settled else TENTATIVE)
        body.append(printable("\n".join(self._after)), AROUND)
        lines = list(body.split("\n", allow_blank=True))
        number = self._line - len(self._before) + 1
        gutter = len(str(number + len(lines)))
        width = max(self._width - gutter - len(" │ "), _NARROWEST)
        own = range(len(self._before) - 1, len(lines) - len(self._after) + 1)
        rows: list[Text] = []
        for index, line in enumerate(lines):
            line.expand_tabs(_TAB)
            line.end = ""
            if index in own:
                pieces = _folded(line, width)
            else:
                line.truncate(width, overflow="ellipsis")
                pieces = [line]
            for nth, piece in enumerate(pieces):
                told = f"{number + index:>{gutter}}" if nth == 0 else " " * gutter
                rows.append(Text.assemble((f"{told} │ ", _NUMBER), piece))
        return rows


def _folded(line: Text, width: int) -> list[Text]:
    """`line` in rows of at most `width` cells; code is broken anywhere, so that no character is lost."""
    if len(line) * 2 <= width or cell_len(line.plain) <= width:
        return [line]
    cuts, used = [], 0
    for index, character in enumerate(line.plain):
        cells = cell_len(character)
        if used + cells > width:
            cuts.append(index)
            used = 0
        used += cells
    return list(line.divide(cuts))


def printable(text: str) -> str:
    """`text` without what would steer a terminal."""
    return _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if ord(found[0]) < 0x20 else "\ufffd", text)
