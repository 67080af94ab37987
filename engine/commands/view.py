"""A region in a terminal, with a few lines of its file around. Owns: how settled and tentative text look.

Must not know: the engine, files on disk. File text and model text are shown as data: control characters, with which a
file could steer the terminal, are drawn as pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rich.text import Text

from engine.protocol import Span

SETTLED: Final = "bold green"
TENTATIVE: Final = "dim italic yellow"
AROUND: Final = ""
_NUMBER: Final = "dim"
_N_LINES: Final = 4
"""Lines shown before and after the region."""
_N_CHARS: Final = 400
"""Of one line; a line may have megabytes."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class RegionView:
    """The region of one fill. `draw` gives what to show for the newest spans; it never gets lower again."""

    def __init__(self, prefix: str, suffix: str, line: int, width: int = 80) -> None:
        r"""`prefix` and `suffix` have `\n` line ends; `line` is the region's first line, from 1."""
        *before, here = prefix.rsplit("\n", _N_LINES)[-_N_LINES:]
        if len(here) > width // 2:  # the region has to be in view
            here = "…" + here[-(width // 2) :]
        self._before = [*(one[:_N_CHARS] for one in before), here]
        self._after = [one[:_N_CHARS] for one in suffix.split("\n", _N_LINES)[:_N_LINES]]
        self._line = line
        self._n_lines = 0

    def draw(self, spans: Sequence[Span]) -> Text:
        """The region with the lines around it."""
        body = Text(no_wrap=True, overflow="ellipsis", tab_size=4)
        body.append(printable("\n".join(self._before)), AROUND)
        for span in spans:
            body.append(printable(span.text), SETTLED if span.settled else TENTATIVE)
        body.append(printable("\n".join(self._after)), AROUND)
        lines = body.split("\n", allow_blank=True)
        first = self._line - len(self._before) + 1
        width = len(str(first + len(lines)))
        drawn = Text(no_wrap=True, overflow="ellipsis", tab_size=4)
        for index, line in enumerate(lines):
            drawn.append(f"{first + index:>{width}} │ ", _NUMBER)
            drawn.append_text(line)
            drawn.append("\n")
        self._n_lines = max(self._n_lines, len(lines))
        drawn.append("\n" * (self._n_lines - len(lines)))  # no jump when the region gets shorter again
        drawn.right_crop(1)
        return drawn


def printable(text: str) -> str:
    """`text` without what would steer a terminal."""
    return _CONTROL.sub(lambda found: chr(0x2400 + ord(found[0])) if ord(found[0]) < 0x20 else "\ufffd", text)
