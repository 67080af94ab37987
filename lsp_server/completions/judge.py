"""What of the engine's candidates is fit to be shown. Owns: the order of the checks, and where texts are parsed.

Must not know: requests under way. Parsing may take longer than a keystroke may wait, so it has a thread of its own.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from engine.protocol import Candidate, Model, Reason, Result
from lsp_server.completions.suggestion import Suggestion
from lsp_server.completions.wanted import Wanted
from lsp_server.outcomes import Nothing
from lsp_server.shaping import Place, SyntaxCheck, shaped_text, why_not


class Judge:
    """Judges results."""

    def __init__(self) -> None:
        self._syntax = SyntaxCheck()
        self._parsing = ThreadPoolExecutor(1, "syntax")

    def prepare(self, place: Place) -> None:
        """Read the document while the engine works."""
        self._parsing.submit(self._syntax.prepare, place)

    async def suggestion(self, wanted: Wanted, result: Result, model: Model, *, gate: bool) -> Suggestion:
        """Texts shaped for their place, best first, or why there are none. `gate`: without those the model doubts."""
        texts: dict[str, None] = {}
        reasons: list[Nothing] = []
        for candidate in result.candidates:
            text = shaped_text(_whole_lines(candidate), wanted.place)
            doubted = gate and candidate.probability < model.least_probability
            why = await self._why_not(text, wanted.place, doubted=doubted)
            if why is None:
                texts[text] = None
            else:
                reasons.append(why)
        if texts:
            return Suggestion(wanted.cursor, tuple(texts), result.model, result.n_steps)
        late = result.reason is Reason.DEADLINE and not reasons
        why = Nothing.DEADLINE if late else next(iter(reasons), Nothing.BLANK)
        return Suggestion(wanted.cursor, (), result.model, result.n_steps, why)

    async def _why_not(self, text: str, place: Place, *, doubted: bool) -> Nothing | None:
        if (why := why_not(text, place)) is not None:
            return why
        if doubted:
            return Nothing.UNSURE
        loop = asyncio.get_running_loop()
        wrong = await loop.run_in_executor(self._parsing, self._syntax.adds_errors, text, place)
        return Nothing.SYNTAX if wrong else None


def _whole_lines(candidate: Candidate) -> str:
    """The text, without a last line that the length limit has cut."""
    whole, cut, _ = candidate.text.rpartition("\n")
    return whole if cut and not candidate.converged else candidate.text
