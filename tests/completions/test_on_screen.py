"""What is counted of a suggestion that is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import define, field

from lsp_server.completions.on_screen import OnScreen
from lsp_server.usage import Usage


@define
class Counts(Usage):
    """Keeps what is counted."""

    counted: list[str] = field(factory=list)

    def accepted(self, language: str, model: str, kind: str, n_chars: int) -> None:
        self.counted.append(f"{kind} {n_chars}")

    def dismissed(self, language: str, model: str) -> None:
        self.counted.append("dismissed")


Act = Callable[[OnScreen], None]


def insert(text: str) -> Act:
    return lambda screen: screen.insert(text)


def show(text: str) -> Act:
    return lambda screen: screen.show([text] if text else [], "python", "m")


@pytest.mark.parametrize(
    ("acts", "counted"),
    [
        ([insert("foo bar\nbaz")], ["all 11"]),
        ([insert("foo")], ["word 3"]),
        ([insert("foo bar"), insert("\n"), insert("baz")], ["line 7", "all 3"]),
        ([insert("foo bar\n")], ["line 8"]),
        ([insert("foo bar"), insert("\nbaz")], ["line 7", "all 4"]),
        ([insert("f"), show("oo bar\nbaz"), insert("oo bar\nbaz")], ["all 10"]),
        ([insert(c) for c in "foo bar\nbaz"], ["typed 11"]),
        ([insert("x"), show("other")], ["dismissed"]),
        ([insert("f"), insert(""), show("foo bar\nbaz"), insert("foo bar\nbaz")], ["all 11"]),  # a key taken back
        ([show("something else")], ["dismissed"]),
        ([show("foo bar\nbaz")], []),
        ([show("")], ["dismissed"]),
        ([lambda s: s.accept("all"), insert("foo bar\nbaz")], ["all 11"]),
        ([insert("foo bar\nbaz"), lambda s: s.accept("all")], ["all 11"]),
        ([insert("foo"), lambda s: s.accept("word")], ["word 3"]),
        ([lambda s: s.pass_over(), insert("foo")], ["dismissed"]),
    ],
)
def test_counts(acts: list[Act], counted: list[str]) -> None:
    usage = Counts()
    screen = OnScreen(usage)
    show("foo bar\nbaz")(screen)
    for act in acts:
        act(screen)
    assert usage.counted == counted


def test_pairs_closed_by_the_editor() -> None:
    usage = Counts()
    screen = OnScreen(usage)
    screen.show(["(a)"], "python", "m")
    screen.insert("()")
    screen.show(["a"], "python", "m")
    screen.insert("a")
    assert usage.counted == ["typed 2"]


def test_alternatives_and_what_stands_before_them() -> None:
    usage = Counts()
    screen = OnScreen(usage)
    screen.show(["one", "other"], "python", "m")
    screen.insert("other")
    screen.show(["(x)"], "python", "m")
    screen.insert("print(x)")  # with the menu's item
    assert usage.counted == ["all 5", "all 3"]
