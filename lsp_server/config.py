"""The server's settings, each declared once here. Owns: defaults and checks. Must not know: who uses them.

They come as `initializationOptions`, by `workspace/configuration` and by `workspace/didChangeConfiguration`, as an
object or inside one named `midfill`. The engine has its own settings (`engine/config.py`, config.toml).
"""

from __future__ import annotations

import difflib
from typing import Any, Final

import attrs
from attrs import frozen

from lsp_server.camel import camel

_MAX_TOKENS: Final = 4096
_MAX_ALTERNATIVES: Final = 16


def _within(low: int, high: int) -> Any:
    return [attrs.validators.ge(low), attrs.validators.le(high)]


@frozen
class ServerConfig:
    """Settings of one editor window."""

    enabled: bool = True
    """Complete while typing. What is asked for by hand works either way."""
    languages: tuple[str, ...] = ()
    """Languages to complete in while typing, by their LSP identifiers; empty: all."""
    disabled_languages: tuple[str, ...] = ()
    """Languages not to complete in while typing."""
    exclude: tuple[str, ...] = ()
    """Files to leave alone, as patterns of a `.gitignore` in each workspace folder: neither completed nor context."""
    plain_completion: bool = False
    """Offer the completion in the editor's menu (`textDocument/completion`), where there is no inline completion."""
    context: bool = True
    """Show the engine text of other files: open ones, and those of the workspace."""
    gate: bool = True
    """While typing, show nothing that the model is unsure of."""
    prefetch: bool = True
    """Begin the next completion as soon as one is accepted."""
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

    def completes(self, language: str) -> bool:
        """Whether to complete in this language while typing."""
        if not self.enabled or language in self.disabled_languages:
            return False
        return not self.languages or language in self.languages


DEFAULTS: Final = ServerConfig()


def read_config(*given: object) -> tuple[ServerConfig, list[str]]:
    """Settings from what a client sent, later over earlier, and a complaint for each that is wrong and so left out."""
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for layer in given:
        _read_layer(layer, values, complaints)
    return ServerConfig(**values), complaints


def _read_layer(given: object, values: dict[str, Any], complaints: list[str]) -> None:
    if isinstance(given, dict) and isinstance(given.get("midfill"), dict):
        given = given["midfill"]
    if given is None:
        return
    if not isinstance(given, dict):
        complaints.append(f"the settings must be an object, not {type(given).__name__}")
        return
    for name, value in given.items():
        if value is None:  # how a client says that it is not set
            continue
        if name in _FIELDS:
            try:
                values[_FIELDS[name].name] = _checked(value, _FIELDS[name])
            except ValueError as error:
                complaints.append(f"`{name}` {error}")
        elif isinstance(name, str) and (near := difflib.get_close_matches(name, _FIELDS, n=1, cutoff=0.8)):
            # Other unknown names are the editor plugin's own business.
            complaints.append(f"`{name}` is unknown; did you mean `{near[0]}`?")


def _checked(value: object, field: attrs.Attribute[Any]) -> object:
    default = field.default
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise ValueError(f"must be a list of texts, not {value!r}")
        return tuple(value)
    if type(value) is not type(default):
        raise ValueError(f"must be {_WORDS[type(default)]}, not {value!r}")
    try:
        made: dict[str, Any] = {field.name: value}
        ServerConfig(**made)
    except ValueError:
        raise ValueError(f"is out of range: {value!r}") from None
    return value


_WORDS: Final[dict[type, str]] = {bool: "true or false", int: "a whole number", str: "a text"}


_FIELDS: Final = {camel(field.name): field for field in attrs.fields(ServerConfig)}
"""By their names on the wire."""
