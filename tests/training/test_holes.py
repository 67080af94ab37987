"""Holes: nothing is lost, every kind is what it says, the same seed cuts the same."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.training.code_lines import CodeLines
from engine.training.holes import SUFFIX_CHARACTERS, Hole, HoleKind, HoleShares, cut
from engine.training.related import Related
from tests.training.sources import CODE, Text

TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(["x = f(1)", "\treturn 'ä😀'", "", "  ", "# note", ")", '"""', "a"]), max_size=12).map(
        "\n".join
    ),
    st.just(CODE),
)


def holes(text: str, kind: HoleKind, n: int) -> list[Hole]:
    lines = CodeLines.of(text)
    found = [cut(lines, "a.py", kind, random.Random(seed)) for seed in range(n)]
    return [hole for hole in found if hole is not None]


@settings(deadline=None)
@given(text=TEXTS, kind=st.sampled_from(HoleKind), seed=st.integers(0, 2**32))
def test_nothing_is_lost(text: str, kind: HoleKind, seed: int) -> None:
    lines = CodeLines.of(text)
    assert "\r" not in lines.text
    hole = cut(lines, "a.py", kind, random.Random(seed))
    if hole is None:
        return
    assert (hole.prefix + hole.middle + hole.suffix) == lines.text[: len(hole.prefix + hole.middle) + SUFFIX_CHARACTERS]
    assert bool(hole.middle) == (kind is not HoleKind.EMPTY)
    assert hole == cut(lines, "a.py", kind, random.Random(seed))


def test_lines_are_told_apart() -> None:
    lines = CodeLines.of('def f():\r\n    """Says\r\n\r\n    more.\r\n    """\r\n    # note\r\n    return 1')
    assert lines.lines == ("def f():", '    """Says', "", "    more.", '    """', "    # note", "    return 1")
    assert lines.code == (0, 6)
    assert lines.prose == (1, 3, 4, 5)
    assert [lines.text[start : start + 4] for start in lines.starts[:2]] == ["def ", "    "]
    assert lines.body(6) == (4, 12)
    assert CodeLines.of("this is (no Python\n# but\n").prose == (1,)
    assert CodeLines.of('x = """never closed\ny = 1\n').code == (0, 1)
    odd = [
        "a = '#'",
        """b = "\\"'\'\'no\"""",
        "r'''doc'''",
        "c = '''one'''",
        "d = f'''",
        "# text",
        "'''",
        "e = 1 # '''",
        "f",
    ]
    assert CodeLines.of("\n".join(odd)).prose == (2, 4, 5, 6)
    assert CodeLines.of("").code == ()


def test_a_text_without_code_has_no_holes() -> None:
    for kind in HoleKind:
        assert holes("", kind, 3) == holes("\n \n\t\n", kind, 3) == []


def test_kinds_are_what_they_say() -> None:
    for hole in holes(CODE, HoleKind.REST_OF_LINE, 200):
        assert "\n" not in hole.middle
        assert hole.suffix.split("\n")[0].strip() == ""
        assert hole.prefix.rpartition("\n")[2].strip()
    for hole in holes(CODE, HoleKind.SPAN, 200):
        assert "\n" not in hole.middle
        assert hole.suffix.split("\n")[0].strip()
    for hole in holes(CODE, HoleKind.LINE, 200):
        assert "\n" not in hole.middle.removesuffix("\n")
        assert not hole.prefix.rpartition("\n")[2].strip()
    blocks = Counter(hole.middle.strip("\n").count("\n") + 1 for hole in holes(CODE, HoleKind.BLOCK, 400))
    assert {2, 3, 4} <= set(blocks)
    assert max(blocks) > 4
    assert sum(blocks[n] for n in (2, 3, 4)) > 0.8 * sum(blocks.values())


def test_cursors_stand_inside_words_and_at_the_left_edge_as_well() -> None:
    cursors = [hole.prefix[-1:] + hole.middle[:1] for hole in holes(CODE, HoleKind.REST_OF_LINE, 300)]
    inside = sum(cursor.replace("_", "a").isalnum() for cursor in cursors)
    assert 0.2 < inside / len(cursors) < 0.8
    lines = holes(CODE, HoleKind.LINE, 300)
    assert 0 < sum(hole.middle.startswith(" ") for hole in lines) < len(lines) / 3
    assert 0 < sum(hole.middle.endswith("\n") for hole in lines) < len(lines) / 3


def test_prose_has_its_share() -> None:
    text = 'def f():\n    """' + "Says much.\n    " * 50 + '"""\n' + "    call(1)\n" * 10
    found = holes(text, HoleKind.LINE, 500)
    prose = sum("Says" in hole.middle for hole in found)
    assert 0.04 < prose / len(found) < 0.18


def test_shares_are_drawn() -> None:
    rng = random.Random(0)
    drawn = Counter(HoleShares().draw(rng) for _ in range(4000))
    assert drawn[HoleKind.REST_OF_LINE] / 4000 == pytest.approx(0.4, abs=0.04)
    assert drawn[HoleKind.EMPTY] / 4000 == pytest.approx(0.03, abs=0.02)
    only = HoleShares(rest_of_line=0, span=0, line=0, block=1, empty=0)
    assert {only.draw(rng) for _ in range(20)} == {HoleKind.BLOCK}


def test_snippets_define_what_is_used_near_the_hole() -> None:
    others = [
        Text(
            "pkg",
            "pkg/a.py",
            "import os\n\nclass Reader(\n    Base,\n):\n    def read_all(self, path: str) -> str:\n        pass\n",
        ),
        Text("pkg", "pkg/b.py", "LIMIT: int = 3\n\ndef here():\n    pass\n"),
        Text("pkg", "pkg/main.py", "def here():\n    pass\n"),
    ]
    hole = Hole(HoleKind.LINE, "here()\nx = Reader()\ny = x.read_all(", "LIMIT", ", far)\nLIMIT\n", "pkg/main.py")
    found = Related(others).snippets(hole)
    assert [snippet.path for snippet in found] == ["pkg/a.py", "pkg/a.py"]
    assert found[0].text == "def read_all(self, path: str) -> str:"
    assert found[1].text == "class Reader(\n    Base,\n):"
    behind = Related(others).snippets(Hole(HoleKind.LINE, "", "x", "\nprint(LIMIT, here)", "pkg/main.py"))
    assert [snippet.text for snippet in behind] == ["LIMIT: int = 3"]
