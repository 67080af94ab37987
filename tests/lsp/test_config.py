"""Settings from clients."""

from __future__ import annotations

from typing import Any

import pytest

from lsp_server.config import DEFAULTS, ServerConfig, read_config


@pytest.mark.parametrize(
    ("given", "config"),
    [
        (None, DEFAULTS),
        ({}, DEFAULTS),
        ({"enabled": False, "deadlineMs": 5}, ServerConfig(enabled=False, deadline_ms=5)),
        ({"midfill": {"model": "/m"}}, ServerConfig(model="/m")),
        ({"languages": ["python"], "exclude": []}, ServerConfig(languages=("python",))),
        ({"maxTokens": None, "trace": {"server": "off"}}, DEFAULTS),
    ],
)
def test_good(given: Any, config: ServerConfig) -> None:
    assert read_config(given) == (config, [])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ([], "the settings must be an object, not list"),
        ({"enabled": 1}, "`enabled` must be true or false, not 1"),
        ({"maxTokens": True}, "`maxTokens` must be a whole number, not True"),
        ({"maxTokens": 0}, "`maxTokens` is out of range: 0"),
        ({"alternatives": 99}, "`alternatives` is out of range: 99"),
        ({"languages": "python"}, "`languages` must be a list of texts, not 'python'"),
        ({"exclude": [5]}, "`exclude` must be a list of texts, not [5]"),
        ({"model": 5}, "`model` must be a text, not 5"),
        ({"deadlinems": 5}, "`deadlinems` is unknown; did you mean `deadlineMs`?"),
    ],
)
def test_bad(given: Any, complaint: str) -> None:
    assert read_config(given) == (DEFAULTS, [complaint])


def test_the_rest_is_kept() -> None:
    config, complaints = read_config({"enabled": "yes", "maxTokens": 7})
    assert config == ServerConfig(max_tokens=7) and len(complaints) == 1


def test_later_over_earlier() -> None:
    given = ({"maxTokens": 7, "gate": False}, None, {"midfill": {"maxTokens": 9, "gate": None, "model": 5}})
    config, complaints = read_config(*given)
    assert config == ServerConfig(max_tokens=9, gate=False) and len(complaints) == 1


def test_which_languages_are_completed() -> None:
    assert ServerConfig().completes("python")
    assert not ServerConfig(enabled=False).completes("python")
    assert not ServerConfig(languages=("go",)).completes("python")
    assert not ServerConfig(languages=("go",), disabled_languages=("go",)).completes("go")
