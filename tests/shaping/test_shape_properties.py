"""What holds for every answer at every place."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.protocol import Span
from lsp_server.shaping import Place, shape, shaped_text, why_not

WORDS = [
    "x",
    "foo",
    "self.",
    "return ",
    "if x:",
    "def f():",
    "é",
    "😀",
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\n    ",
]
MARKS = [*"()[]{}:,;<>=\"'`\\#", ")]", '"""', "//", "*/", "\n\t"]
PIECES = st.sampled_from(WORDS + MARKS)
TEXTS = st.lists(PIECES, max_size=12).map("".join)
LANGUAGES = st.sampled_from(["python", "javascript", "go", "json", "html", "c", "lua", "plaintext", "makefile", ""])
PLACES = st.builds(Place, TEXTS, TEXTS, LANGUAGES)


@given(TEXTS, PLACES)
@settings(max_examples=600, deadline=None)
def test_a_shaped_text_stays_as_it_is(text: str, place: Place) -> None:
    once = shaped_text(text, place)
    assert shaped_text(once, place) == once


@given(TEXTS, PLACES)
@settings(max_examples=400, deadline=None)
def test_nothing_but_blanks_is_invented(text: str, place: Place) -> None:
    said = "".join(text.split())
    assert said.startswith("".join(shaped_text(text, place).split()))


@given(st.lists(st.tuples(TEXTS, st.booleans()), max_size=5), PLACES)
@settings(max_examples=400, deadline=None)
def test_frames_say_what_final_texts_say(runs: list[tuple[str, bool]], place: Place) -> None:
    spans = shape([Span(text, settled) for text, settled in runs], place)
    assert "".join(span.text for span in spans) == shaped_text("".join(text for text, _ in runs), place)
    assert all(span.text for span in spans)
    assert all(one.settled != next_one.settled for one, next_one in pairwise(spans))


@given(TEXTS, PLACES)
@settings(max_examples=400, deadline=None)
def test_there_is_always_an_opinion(text: str, place: Place) -> None:
    why_not(shaped_text(text, place), place)


@given(st.integers(1, 6), st.sampled_from(["a", "f(x)", "[1, 2]", '"s"', "{}"]), st.sampled_from(["()", "[]", "{}"]))
def test_closers_are_never_doubled(depth: int, middle: str, pair: str) -> None:
    opener, closer = pair
    for n_said in range(depth + 1):
        place = Place("x = f" + opener * depth, closer * depth + "\n", "python")
        assert shaped_text(middle + closer * n_said, place) == middle
