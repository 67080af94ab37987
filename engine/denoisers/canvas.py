"""The region cells behind a row's pending token, in the absorbing family. Owns: what each shows, and what is sure.

Pure: no tensors, no model. A cell shows a token or is masked. A token that was shown by the model above its threshold
is sure; one that came from an older text is not, until a pass has judged it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import define, field

MASK: Final = -1


@define(eq=False)
class Canvas:
    """One row's canvas."""

    size: int
    """Cells."""
    waiting: list[int] = field(factory=list)
    """An older text's tokens that come into view as the canvas moves on; behind them cells are masked."""
    shown: list[int] = field(init=False, factory=list)
    """Token of each cell, or `MASK`."""
    sure: list[bool] = field(init=False, factory=list)
    drafts: list[int] = field(init=False, factory=list)
    """What the last pass would put into each cell."""

    def __attrs_post_init__(self) -> None:
        self._fill_up()

    def judge(self, best: Sequence[int], top: Sequence[float], own: Sequence[float], doubt: float) -> None:
        """After a pass: a token that came from an older text becomes sure, or is masked again.

        `best`: the most probable token of each cell, `top`: its probability, `own`: that of the token shown. A token is
        doubted when its probability is below `doubt` times the highest.
        """
        self.drafts = list(best)
        for cell in range(self.size):
            if self.shown[cell] != MASK and not self.sure[cell]:
                if own[cell] < doubt * top[cell]:
                    self.shown[cell] = MASK
                else:
                    self.sure[cell] = True

    def show(self, best: Sequence[int], top: Sequence[float], threshold: float) -> int:
        """Show what a pass is sure of in masked cells; returns how many."""
        n = 0
        for cell in range(self.size):
            if self.shown[cell] == MASK and top[cell] >= threshold:
                self.shown[cell], self.sure[cell] = best[cell], True
                n += 1
        return n

    def settle_first(self, token: int) -> None:
        """Show `token` in the first masked cell."""
        cell = self.shown.index(MASK)
        self.shown[cell], self.sure[cell] = token, True

    def take_sure(self) -> list[int]:
        """The sure tokens at the beginning; the canvas moves on behind them."""
        n = next((cell for cell in range(self.size) if self.shown[cell] == MASK or not self.sure[cell]), self.size)
        taken = self.shown[:n]
        self.move_on(n)
        return taken

    def agree(self, tokens: Sequence[int]) -> None:
        """`tokens` have been accepted by another pass: where the canvas showed others, all behind is masked again."""
        n = min(len(tokens), self.size)
        wrong = next((cell for cell in range(n) if self.shown[cell] not in (MASK, tokens[cell])), None)
        if wrong is not None:
            self.shown[wrong:] = [MASK] * (self.size - wrong)
            self.sure[wrong:] = [False] * (self.size - wrong)
            self.waiting.clear()
        self.move_on(len(tokens))

    def move_on(self, n: int) -> None:
        """The first `n` cells lie behind the pending token now."""
        self.waiting = self.waiting[max(0, n - self.size) :]
        self.shown, self.sure, self.drafts = self.shown[n:], self.sure[n:], self.drafts[n:]
        self._fill_up()

    @property
    def text(self) -> list[int]:
        """The tokens shown, and where none is, the last draft; up to the first cell with neither."""
        found = []
        for cell, token in enumerate(self.shown):
            if token == MASK and cell >= len(self.drafts):
                break
            found.append(token if token != MASK else self.drafts[cell])
        return found

    def _fill_up(self) -> None:
        n = self.size - len(self.shown)
        more = self.waiting[:n]
        del self.waiting[:n]
        self.shown += [*more, *([MASK] * (n - len(more)))]
        self.sure += [False] * n
