"""docs/protocol.md says what the types say: every message of our own, every field, every setting."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import attrs
import pytest

from lsp_server import protocol_types

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "protocol.md").read_text(encoding="utf-8")
REFERENCE = runpy.run_path(str(DOCS / "reference.py"))


def test_the_tables_are_those_of_the_types() -> None:
    assert REFERENCE["filled_in"](PAGE) == PAGE, "run docs/reference.py"


def test_every_message_has_its_section() -> None:
    methods = [
        value for value in vars(protocol_types).values() if isinstance(value, str) and value.startswith("midfill/")
    ]
    assert len(methods) == 6
    for method in methods:
        assert f"### {method}\n" in PAGE


def test_every_type_has_its_table() -> None:
    carriers = ("Request", "Notification")  # JSON-RPC's own frame around the parameters
    ours = {
        cls
        for cls in vars(protocol_types).values()
        if isinstance(cls, type) and cls.__module__ == protocol_types.__name__ and not cls.__name__.endswith(carriers)
    }
    assert ours <= set(REFERENCE["TYPES"])
    for cls in REFERENCE["TYPES"]:
        assert PAGE.count(f"<!-- {cls.__name__} -->") == 1


@pytest.mark.parametrize("cls", [cls for cls in REFERENCE["TYPES"] if attrs.has(cls)])
def test_every_field_is_explained(cls: type[Any]) -> None:
    says = REFERENCE["docstrings"](cls)
    assert [field.name for field in attrs.fields(cls) if not says[field.name]] == []
