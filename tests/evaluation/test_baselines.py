"""The baselines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.baselines import _end_of_match, copy_from_buffer, empty
from engine.evaluation.cases import Case, Kind


def case(prefix: str, kind: Kind = Kind.REST_OF_LINE) -> Case:
    return Case("", kind, prefix, "", "")


@pytest.mark.parametrize(
    ("prefix", "copied"),
    [
        ("import numpy as np\nimport n", "umpy as np"),
        ("", ""),
        ("abc", ""),
        ("abcX abc", ""),  # only three characters match
        ("abcdX\nabcd", "X"),
        ("xabcdONE\nyabcdTWO\nyabcd", "TWO"),  # the longest match
        ("abcdONE\nabcdTWO\nabcd", "TWO"),  # the latest of several as long
        ("yabcdONE\nabcdTWO\nyabcd", "ONE"),
    ],
)
def test_copies_what_followed_the_longest_earlier_match(prefix: str, copied: str) -> None:
    assert copy_from_buffer(case(prefix)) == copied


def test_copies_three_lines_for_a_block() -> None:
    prefix = "def f():\n    a\n    b\n    c\ndef f():\n"
    assert copy_from_buffer(case(prefix)) == "    a"
    assert copy_from_buffer(case(prefix, Kind.BLOCK)) == "    a\n    b\n    c"


@given(st.text(alphabet="ab\n", max_size=60))
def test_the_match_is_the_longest_one(buffer: str) -> None:
    lengths = [n for n in range(4, len(buffer)) if buffer.rfind(buffer[-n:], 0, len(buffer) - 1) >= 0]
    end = _end_of_match(buffer)
    if not lengths:
        assert end is None
    else:
        longest = max(lengths)
        assert end == buffer.rfind(buffer[-longest:], 0, len(buffer) - 1) + longest


def test_empty_is_empty() -> None:
    assert empty(case("x")) == ""
