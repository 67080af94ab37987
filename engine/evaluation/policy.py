"""Length policies: what a fill may ask for, by kind of hole. None of them looks at the true middle.

Owns: limits of a fill, and what is done to its text before it is judged. Must not know: the engine.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from engine.evaluation.cases import Case, Kind


@frozen
class Policy:
    """How much text a fill may make."""

    max_lines: int
    """0: no limit."""
    max_tokens: int
    told: str
    """In words, for the report."""


POLICIES: Final = {
    Kind.SINGLE_LINE: Policy(1, 96, "one line, as an editor asks where only one line fits; a line end is added"),
    Kind.MULTI_LINE: Policy(0, 256, "up to 256 tokens, no line limit, no oracle; a line end is added if missing"),
    Kind.RANDOM_SPAN: Policy(0, 192, "up to 192 tokens, no line limit, no oracle; the text as it is"),
    Kind.REST_OF_LINE: Policy(1, 64, "one line"),
    Kind.LINE: Policy(1, 64, "one line"),
    Kind.BLOCK: Policy(0, 128, "up to 128 tokens, no line limit, no oracle; the text as it is"),
    Kind.NO_SLIP: Policy(1, 64, "one line, which stands there as it should be: exact match is that it is left alone"),
    **dict.fromkeys(
        (Kind.ONE_SLIP, Kind.TWO_SLIPS, Kind.THREE_SLIPS, Kind.FOUR_SLIPS),
        Policy(1, 64, "one line, which stands there with slips: exact match is that it is mended"),
    ),
}


def finish(case: Case, text: str) -> str:
    """The text as it goes into the hole.

    A hole of whole lines took the last line's end with it. Where only one line was asked for, that end can't come from
    the engine; where it is missing, the suffix would stick to the text.
    """
    if case.kind.whole_lines and not text.endswith("\n"):
        return text + "\n"
    return text
