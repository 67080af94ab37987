"""A scenario: what a user meets, as data. Owns: its form. Must not know: how it is played."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
from attrs import frozen

from tests.conformance.steps import Accept, Ask, Fills, Hold, Reads, Step
from tests.engine_script import Step as EngineStep

Play = str | tuple[str, ...] | Sequence[EngineStep | Hold]
"""What the engine does for one fill: a text, alternatives, or steps."""


@frozen
class Kind:
    """What a server is started with. Scenarios of one kind share a server."""

    encoding: str = "utf-16"
    settings: str = "{}"
    """JSON, so that kinds can be compared."""


@frozen(eq=False)
class Scenario:
    """One of them. A row of the table of faults is a kind, so it has several."""

    row: str
    name: str
    buffer: str
    steps: Sequence[Step]
    plays: Sequence[Play] = ()
    """For one fill each, in the order of arrival."""
    otherwise: Play = ""
    """For further fills; the empty text is no answer."""
    path: str = "example"
    language: str = "python"
    line_end: str = "\n"
    kind: Kind = Kind()
    files: Mapping[str, str] | None = None
    """On disk, in a workspace folder that is added for the scenario; None: there is none."""
    alone: bool = False
    """It has a server and an engine to itself: it kills them, or leaves them changed."""
    loaded: bool = True
    """Whether the engine has its model when the scenario begins."""
    messages: bool = False
    """Messages may pop up; a `Messages` step says how many."""
    same_text: bool = True
    """At the end the server is asked for its text. Not where it must not even tell the engine."""

    @property
    def id(self) -> str:
        """Its name in the test's report."""
        return f"{self.row}-{self.name}".replace(" ", "_")

    @property
    def is_alone(self) -> bool:
        """Whether it shares nothing."""
        return self.alone or not self.loaded


def scenario(
    row: str, name: str, buffer: str, *steps: Step, settings: Mapping[str, Any] | None = None, **more: Any
) -> Scenario:
    """Short form."""
    kind = Kind(more.pop("encoding", "utf-16"), json.dumps(settings or {}, sort_keys=True))
    return Scenario(row, name, buffer, steps, kind=kind, **more)


def inserts(row: str, name: str, buffer: str, answer: Play, expected: str | None, **more: Any) -> Scenario:
    """The commonest: ask once, accept, read. `expected` None: nothing is shown."""
    if expected is None:
        return scenario(row, name, buffer, Ask(shows=None), Fills(1), plays=[answer], **more)
    return scenario(row, name, buffer, Ask(), Accept(), Reads(expected), plays=[answer], **more)


def in_all_encodings(one: Scenario) -> list[Scenario]:
    """The same with each position encoding."""
    return [
        attrs.evolve(one, name=f"{one.name} {encoding}", kind=attrs.evolve(one.kind, encoding=encoding))
        for encoding in ("utf-8", "utf-16", "utf-32")
    ]
