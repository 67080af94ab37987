"""Settings of a run from the command line: `NAME=VALUE`. Owns: how a value is read. Pure.

The settings are attrs classes, declared and checked where they are used; what may be set is what they have.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs

from engine.commands.errors import BadInputError

Settings = TypeVar("Settings")


def split(pairs: Iterable[str], *kinds: Any) -> list[dict[str, str]]:
    """`NAME=VALUE` pairs by which of the settings has that name. Raises `BadInputError`."""
    names = [list(_names(kind)) for kind in kinds]
    found: list[dict[str, str]] = [{} for _ in kinds]
    for pair in pairs:
        name, equals, value = pair.partition("=")
        owner = next((index for index, known in enumerate(names) if name in known), None)
        if owner is None or not equals:
            known = [one for of_kind in names for one in of_kind]
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}=...?" if near else f"known are {', '.join(sorted(known))}"
            raise BadInputError(f"--set {pair}: must be NAME=VALUE with a known name; {hint}")
        found[owner][name] = value
    return found


def changed(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """`settings` with other values, text or not, by name; `a.b` is b in a. Raises `BadInputError`."""
    made = settings
    for name, value in values.items():
        first, _, rest = name.partition(".")
        old = getattr(made, first)
        try:
            new = changed(old, {rest: value}) if rest else _read(value, old)
            made = attrs.evolve(made, **{first: new})  # type: ignore[misc]
        except ValueError as error:
            raise BadInputError(f"{name}: {error.args[0] if error.args else error}") from None
    return made


def restored(settings: Settings, kept: Mapping[str, Any]) -> Settings:
    """`settings` with what a run's file keeps of them; other things in it are let alone."""
    made = settings
    for name, value in kept.items():
        old = getattr(made, name, None)
        if old is not None and name in {one.name for one in attrs.fields(type(made))}:  # type: ignore[arg-type]
            new = restored(old, value) if isinstance(value, Mapping) and attrs.has(type(old)) else _read(value, old)
            made = attrs.evolve(made, **{name: new})  # type: ignore[misc]
    return made


def _names(kind: Any) -> Iterable[str]:
    """Of all settings, those inside others as `a.b`."""
    for one in attrs.fields(type(kind)):
        value = getattr(kind, one.name)
        if attrs.has(type(value)):
            yield from (f"{one.name}.{name}" for name in _names(value))
        else:
            yield one.name


def _read(value: Any, old: Any) -> Any:
    """`value` as what `old` is. Raises `ValueError`."""
    text = value if isinstance(value, str) else json.dumps(value)
    if isinstance(old, str):
        return text
    if isinstance(old, bool):
        if text not in ("true", "false"):
            raise ValueError(f"must be true or false, not {text}")
        return text == "true"
    try:
        if isinstance(old, int):
            return int(text)
        if isinstance(old, float):
            return float(text)
        return tuple(json.loads(text)) if isinstance(old, tuple) else json.loads(text)
    except (ValueError, TypeError):
        kind = {int: "a whole number", float: "a number", tuple: "a list, as [1, 2]"}.get(type(old), "JSON")
        raise ValueError(f"must be {kind}, not {text}") from None
