"""The table of rows in the README: each row has its scenarios or tests, or the reason why it is not the server's."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.conformance.scenarios.collection import SCENARIOS

_README = Path(__file__).with_name("README.md")
_ROOT = _README.parents[2]
_ROW = re.compile(r"^\| ([A-L]\d+) \| .+ \| (.+) \|$", re.MULTILINE)
_FILE = re.compile(r"`(tests/[\w/]+\.py)`")
_LEAST = 2
"""A row is a kind, not a case."""


def rows() -> dict[str, str]:
    """Where each row is held."""
    found = _ROW.findall(_README.read_text(encoding="utf-8"))
    assert len(found) == len(dict(found)), "a row stands there twice"
    return dict(found)


def test_every_row_is_held_or_has_a_reason() -> None:
    for row, where in rows().items():
        files = _FILE.findall(where)
        assert where.startswith(("scenarios", "not the server's: ")) or files, row
        assert all((_ROOT / file).is_file() for file in files), row


def test_rows_with_scenarios_have_several() -> None:
    counted = Counter(scenario.row for scenario in SCENARIOS)
    promised = {row for row, where in rows().items() if where.startswith("scenarios")}
    assert set(counted) == promised
    assert {row for row, n in counted.items() if n < _LEAST} == set()


def test_names_are_unique() -> None:
    assert [name for name, n in Counter(scenario.id for scenario in SCENARIOS).items() if n > 1] == []
