"""Metrics of a text, and of shares."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.metrics import edit_similarity, exact_match, wilson_interval


@pytest.mark.parametrize(
    ("text", "middle", "same"),
    [
        ("return x", "return x", True),
        ("  return x\n", "return x", True),
        ("", " \n", True),
        ("return  x", "return x", False),
        ("", "x", False),
    ],
)
def test_exact_match_looks_past_whitespace_at_the_ends_only(text: str, middle: str, same: bool) -> None:
    assert exact_match(text, middle) is same


@given(st.text(max_size=30), st.text(max_size=30))
def test_edit_similarity_is_a_share_and_one_for_the_same_text(a: str, b: str) -> None:
    assert 0 <= edit_similarity(a, b) <= 1
    assert edit_similarity(a, a) == 1


def test_edit_similarity_of_nothing_in_common_is_zero() -> None:
    assert edit_similarity("", "x") == 0
    assert edit_similarity("abc", "xyz") == 0
    assert edit_similarity("abcd", "abxd") == 0.75


def test_wilson_interval_matches_published_values() -> None:
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)  # Newcombe 1998, table I
    assert wilson_interval(0, 20) == pytest.approx((0, 0.1611), abs=1e-4)
    assert wilson_interval(29, 29) == pytest.approx((0.8830, 1), abs=1e-4)
    assert wilson_interval(0, 0) == (0, 1)
