"""The engine's settings, each declared once here. Owns: defaults, their file, their checks.

Order of precedence: command line, environment (`MIDFILL_MODEL`, ...), the user's config.toml `[engine]`, the default.
"""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import frozen

from engine.paths import config_file


class ConfigError(ValueError):
    """A setting is wrong. The message names the setting, where it came from, and what fits."""


def _between(low: float, high: float) -> Callable[[object, attrs.Attribute[Any], float], None]:
    def check(_: object, attribute: attrs.Attribute[Any], value: float) -> None:
        if not low <= value <= high:  # not a number is between nothing
            raise ValueError(f"{attribute.name} must be from {low} to {high}, not {value:.10g}")

    return check


def _one_of(*names: str) -> Callable[[object, attrs.Attribute[Any], str], None]:
    def check(_: object, attribute: attrs.Attribute[Any], value: str) -> None:
        if value not in names:
            raise ValueError(f"{attribute.name} must be one of {', '.join(names)}, not {_short(value)}")

    return check


@frozen
class EngineConfig:
    """Settings of one engine process."""

    model: str = "auto"
    """`auto`, a name of `midfill model list`, or a path to a checkpoint folder."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""
    dtype: str = attrs.field(default="auto", validator=_one_of("auto", "float32", "bfloat16", "float16"))
    threads: int = attrs.field(default=0, validator=_between(0, 1024))
    """CPU threads of torch; 0: one per physical core, or one for a model of less than 100 MB."""
    idle_exit_s: float = attrs.field(default=1800.0, validator=_between(1, 31_536_000))
    """Leave after this long without a request."""
    cache_mb: int = attrs.field(default=512, validator=_between(1, 1_048_576))
    """Most memory for the prefix cache."""
    context_tokens: int = attrs.field(default=1024, validator=_between(1, 1_048_576))
    """Longest prompt; a model with a shorter context takes less."""
    max_steps: int = attrs.field(default=0, validator=_between(0, 100_000))
    """Denoising steps at most; 0: what the checkpoint asks for."""
    queue: int = attrs.field(default=16, validator=_between(1, 100_000))
    """Fills that may wait per client."""
    policy: str = attrs.field(default="auto", validator=_one_of("auto", "verified", "free"))
    """Of a model with a denoising adapter: `verified` writes what its base would, `free` what the canvas is sure of;
    `auto` is verified."""
    copies: str = attrs.field(default="on", validator=_one_of("on", "off"))
    """Whether text that is there already, and the client's guesses, are tried. `off` shows what a model does alone."""


def load_config(overrides: Mapping[str, Any] | None = None, file: Path | None = None) -> EngineConfig:
    """Settings from `overrides`, the environment and the file. Raises `ConfigError`."""
    path = file or config_file()
    known = {a.name: a for a in attrs.fields(EngineConfig)}
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, value in _read(path).items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else f"; known are {', '.join(known)}"
            raise ConfigError(f"{path}: unknown setting `engine.{name}`{hint}")
        values[name], sources[name] = value, str(path)
    for name in known:
        variable = f"MIDFILL_{name.upper()}"
        if variable in os.environ:
            values[name], sources[name] = os.environ[variable], variable
    for name, value in (overrides or {}).items():
        if value is not None:
            values[name], sources[name] = value, "the command line"
    for name, value in values.items():
        values[name] = _coerce(name, value, known[name], sources[name])
    return EngineConfig(**values)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is no text in UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no TOML: {error}") from None
    for name, value in document.items():
        if name == "engine":
            continue
        if isinstance(value, dict):
            raise ConfigError(f"{path}: unknown table [{name}]; the engine's settings stand under [engine]")
        raise ConfigError(f"{path}: `{name}` stands outside a table; write it under the line [engine]")
    table = document.get("engine", {})
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: `engine` must be a table, written as [engine]")
    return table


_KINDS: Final = {"str": "a text", "int": "a whole number", "float": "a number"}


def _coerce(name: str, value: Any, attribute: attrs.Attribute[Any], source: str) -> Any:
    kind = str(attribute.type)
    typed: Any = _typed(kind, value)
    if typed is None:
        raise ConfigError(f"{source}: `{name}` must be {_KINDS[kind]}, not {_short(value)}")
    try:
        attrs.evolve(EngineConfig(), **{name: typed})
    except ValueError as error:
        first = str(error.args[0]) if error.args else str(error)
        raise ConfigError(f"{source}: {first}") from None
    return typed


def _typed(kind: str, value: Any) -> str | int | float | None:
    """`value` as this kind; None when it is of another. Text from the environment may hold numbers."""
    if kind == "str":
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)  # first: it takes long digits that int() refuses, and says inf and nan
        if kind == "float":
            return number
        return int(value) if math.isfinite(number) and number == int(value) else None
    except (ValueError, OverflowError):
        return None


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:60]}..."
