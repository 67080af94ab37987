"""When the quoted pieces of a document change, and when they stick."""

from __future__ import annotations

import pytest

from lsp_server.context.held import CALM_S, LOOK_S, PAUSE_S, Held
from lsp_server.context.piece import BUDGET_CHARS, Kind, Piece, pack, snippets_of

KEY_S = 0.1


def piece(name: str, kind: Kind = Kind.DEFINITION, path: str = "", lines: int = 1) -> Piece:
    return Piece(kind, path or f"{name}.py", 0, "\n".join([f"def {name}():"] * lines))


class Desk:
    """A held set whose searches end at once with `there`, and somebody who types."""

    def __init__(self) -> None:
        self.held = Held()
        self.now_s = 100.0
        self.there: list[Piece] = []
        self.names: set[str] = {"alpha"}

    def type(self, line: int, *, after_s: float = KEY_S, returned: bool = False) -> list[str]:
        """A keystroke; the paths of what is quoted then."""
        self.now_s += after_s
        if self.held.must_look(self.now_s, line, self.names, returned=returned):
            search = self.held.looking(self.now_s, line, self.names)
            self.held.found(search, list(self.there))
        return [snippet.path for snippet in self.held.settle(self.now_s)]


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.there = [piece("alpha")]
    assert desk.type(10) == ["alpha.py"]
    return desk


def test_typing_on_changes_nothing(desk: Desk) -> None:
    desk.there = [piece("beta"), piece("gamma", Kind.LIKENESS)]
    for key in range(300):
        desk.names = desk.names | {f"name{key}"}
        assert desk.type(10 + key // 40) == ["alpha.py"]
    assert desk.held.n_changes == 1


def test_searches_while_typing_are_few(desk: Desk) -> None:
    for key in range(300):
        desk.names = desk.names | {f"name{key}"}
        desk.type(10)
    assert desk.held.n_searches <= 1 + 300 * KEY_S / LOOK_S


def test_no_new_names_no_search(desk: Desk) -> None:
    for _ in range(100):
        desk.type(10, after_s=LOOK_S)
    assert desk.held.n_searches == 1


def test_a_new_definition_comes_in_at_a_pause(desk: Desk) -> None:
    desk.there = [piece("beta"), piece("alpha")]
    desk.names = {"alpha", "beta"}
    desk.type(10, after_s=LOOK_S)
    assert desk.type(10, after_s=PAUSE_S) == ["alpha.py"]  # too soon after the last change
    for _ in range(int(CALM_S / KEY_S)):
        desk.type(10)
    assert desk.type(10, after_s=PAUSE_S) == ["alpha.py", "beta.py"]  # what stays keeps its place


def test_nothing_but_a_definition_is_worth_it(desk: Desk) -> None:
    desk.there = [piece("alpha"), piece("beta", Kind.EDIT), piece("gamma", Kind.LIKENESS)]
    desk.names = {"beta"}
    desk.type(10, after_s=CALM_S)
    assert desk.type(10, after_s=CALM_S) == ["alpha.py"]


def test_a_jump_brings_new_pieces_at_once(desk: Desk) -> None:
    desk.there = [piece("beta", Kind.LIKENESS)]
    assert desk.type(60) == ["beta.py"]
    assert desk.type(60) == ["beta.py"]
    assert desk.held.n_changes == 2


def test_a_small_jump_does_not(desk: Desk) -> None:
    desk.there = [piece("beta")]
    assert desk.type(22) == ["alpha.py"]


def test_a_jump_to_where_nothing_new_is_keeps_all(desk: Desk) -> None:
    desk.there = []
    assert desk.type(60) == ["alpha.py"]


def test_who_comes_back_gets_the_text_of_now(desk: Desk) -> None:
    desk.there = [Piece(Kind.DEFINITION, "alpha.py", 0, "def alpha(new):")]
    desk.type(10, returned=True)
    assert desk.held.snippets[0].text == "def alpha(new):"


def test_an_older_search_that_ends_late_is_dropped(desk: Desk) -> None:
    old = desk.held.looking(desk.now_s, 60, ())
    new = desk.held.looking(desk.now_s, 120, ())
    desk.held.found(old, [piece("old")])
    assert desk.type(120) == ["alpha.py"]
    desk.held.found(new, [piece("new")])


def test_packing() -> None:
    large = piece("large", lines=200)
    packed = pack([large, piece("small"), piece("like", Kind.LIKENESS)])
    assert sum(len(snippet.path) + len(snippet.text) for snippet in snippets_of(packed)) <= BUDGET_CHARS
    assert [one.path for one in packed] == ["large.py"]
    assert packed[0].text.endswith("def large():")
    assert pack([]) == ()
    wide = Piece(Kind.DEFINITION, "wide.py", 0, "x" * 5000)
    assert [one.path for one in pack([wide, piece("small")])] == ["small.py"]


def test_pieces_of_a_file_share_a_snippet() -> None:
    late, early = Piece(Kind.DEFINITION, "a.py", 9, "late"), Piece(Kind.DEFINITION, "a.py", 1, "early")
    told = snippets_of([late, piece("b"), early])
    assert [(snippet.path, snippet.text) for snippet in told] == [("a.py", "early\nlate"), ("b.py", "def b():")]
