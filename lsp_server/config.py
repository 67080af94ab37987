"""The server's settings, each declared once here. Owns: defaults and checks. Must not know: who uses them.

They come as `initializationOptions` and by `workspace/didChangeConfiguration`, as an object or inside one named
`midfill`. The engine has its own settings (`engine/config.py`, config.toml).
"""

from __future__ import annotations

import difflib
from typing import Any, Final

import attrs
from attrs import frozen

_MAX_TOKENS: Final = 4096
_MAX_ALTERNATIVES: Final = 16


def _within(low: int, high: int) -> Any:
    return [attrs.validators.ge(low), attrs.validators.le(high)]


@frozen
class ServerConfig:
    """Settings of one editor window."""

    enabled: bool = True
    """Complete while typing. What is asked for by hand works either way."""
    preview: bool = True
    """Send frames to requests that carry a token."""
    max_tokens: int = attrs.field(default=64, validator=_within(1, _MAX_TOKENS))
    """Longest completion, in tokens."""
    alternatives: int = attrs.field(default=3, validator=_within(1, _MAX_ALTERNATIVES))
    """Candidates when a completion is asked for by hand; while typing there is one."""
    deadline_ms: int = attrs.field(default=8000, validator=attrs.validators.ge(0))
    """A completion returns its best stable answer by then; 0: no deadline."""
    model: str = ""
    """Model of the engine that this server starts; empty: the engine's own setting."""
    endpoint: str = ""
    """Address of the engine; empty: this user's own."""


DEFAULTS: Final = ServerConfig()


def read_config(given: object) -> tuple[ServerConfig, list[str]]:
    """Settings from what a client sent, and one complaint for each that is wrong and so has its default."""
    if isinstance(given, dict) and isinstance(given.get("midfill"), dict):
        given = given["midfill"]
    if given is None:
        return DEFAULTS, []
    if not isinstance(given, dict):
        return DEFAULTS, [f"the settings must be an object, not {type(given).__name__}"]
    known = {_camel(field.name): field for field in attrs.fields(ServerConfig)}
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for name, value in given.items():
        if name in known:
            try:
                values[known[name].name] = _checked(value, known[name])
            except ValueError as error:
                complaints.append(f"`{name}` {error}")
        elif isinstance(name, str) and (near := difflib.get_close_matches(name, known, n=1, cutoff=0.8)):
            # Other unknown names are the editor plugin's own business.
            complaints.append(f"`{name}` is unknown; did you mean `{near[0]}`?")
    return ServerConfig(**values), complaints


def _checked(value: object, field: attrs.Attribute[Any]) -> object:
    default = field.default
    if value is None:
        return default
    if type(value) is not type(default):
        raise ValueError(f"must be {_WORDS[type(default)]}, not {value!r}")
    try:
        made: dict[str, Any] = {field.name: value}
        ServerConfig(**made)
    except ValueError:
        raise ValueError(f"is out of range: {value!r}") from None
    return value


_WORDS: Final[dict[type, str]] = {bool: "true or false", int: "a whole number", str: "a text"}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))
