"""The engine's settings, each declared once here. Owns: defaults, their file, their checks.

Order of precedence: command line, environment (`MIDFILL_MODEL`, ...), the user's config.toml `[engine]`, the default.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from engine.paths import config_file


class ConfigError(ValueError):
    """A setting is wrong. The message names the setting, where it came from, and what fits."""


def _positive(_: object, attribute: attrs.Attribute[Any], value: float) -> None:
    if value <= 0:
        raise ValueError(f"{attribute.name} must be above 0, not {value}")


@frozen
class EngineConfig:
    """Settings of one engine process."""

    model: str = "auto"
    """`auto`, a name of `midfill model list`, or a path to a checkpoint folder."""
    device: str = "auto"
    """`auto`, `cpu`, `cuda`, `cuda:1`, ..."""
    dtype: str = attrs.field(default="auto", validator=attrs.validators.in_(("auto", "float32", "bfloat16", "float16")))
    threads: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    """CPU threads of torch; 0: one per physical core, or one for a model of less than 100 MB."""
    idle_exit_s: float = attrs.field(default=1800.0, validator=_positive)
    """Leave after this long without a request."""
    cache_mb: int = attrs.field(default=512, validator=_positive)
    """Most memory for the prefix cache."""
    context_tokens: int = attrs.field(default=1024, validator=_positive)
    """Longest prompt; a model with a shorter context takes less."""
    max_steps: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    """Denoising steps at most; 0: what the checkpoint asks for."""
    queue: int = attrs.field(default=16, validator=_positive)
    """Fills that may wait per client."""


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
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("engine", {})
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: `engine` must be a table, written as [engine]")
    return table


def _coerce(name: str, value: Any, attribute: attrs.Attribute[Any], source: str) -> Any:
    kind: type[Any] = {"str": str, "int": int, "float": float}[str(attribute.type)]
    told = f"{source}: `{name}`"
    if isinstance(value, bool) or (kind is str and not isinstance(value, str)):
        raise ConfigError(f"{told} must be {kind.__name__}, not {value!r}")
    try:
        typed = kind(value)
        attrs.evolve(EngineConfig(), **{name: typed})
    except ValueError as error:
        first = str(error.args[0]) if error.args else str(error)
        raise ConfigError(f"{told}: {first}") from None
    return typed
