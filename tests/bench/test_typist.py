"""Who types in benchmarks: always on the way back to the file, whatever is suggested."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from engine.bench.typist import Edit, Typist

SOURCES = st.sampled_from(
    [
        "def f():\n    return 1\n\n\nprint(f())\n",
        "x",
        "é😀\n" * 5,
        "\n\n",
        "class A:\n    b = 1\n\n    c = '''\n  x\n'''",
    ]
)


@given(SOURCES, st.integers(0, 10**6), st.integers(1, 150))
def test_the_file_comes_back(source: str, seed: int, n_keys: int) -> None:
    rng = random.Random(seed)
    typist = Typist(source, rng)
    for _ in range(n_keys):
        before = typist.text
        suggestion = None
        if rng.random() < 0.5:  # some cover text behind the cursor
            end = min(len(before), typist.cursor + rng.choice((0, 0, 2)))
            suggestion = Edit(typist.cursor, end, rng.choice(("x", "foo(bar)\n", "😀")))
        edit = typist.key(suggestion)
        assert 0 <= edit.start <= edit.end <= len(before)
        assert typist.text == edit.of(before)
        assert edit.undone(before).of(typist.text) == before
        assert edit.start <= typist.cursor <= len(typist.text)
    text = typist.text
    for edit in typist.finish():
        text = edit.of(text)
    assert text == typist.text == source


def test_all_kinds_of_keys_are_pressed() -> None:
    source = "def f(a, b):\n    return a + b\n\n\n" * 30
    typist = Typist(source, random.Random(1))
    edits = []
    for _ in range(2000):
        suggestion = Edit(typist.cursor, typist.cursor, "suggested text") if len(edits) % 3 else None
        edits.append(typist.key(suggestion))
    assert typist.n_accepted > 20 and typist.n_typed_through > 20
    assert sum(edit.end > edit.start and not edit.text for edit in edits) > 50, "deletions"
    assert sum(edit.text.startswith("\n ") for edit in edits) > 5, "an editor indents"
    assert sum(len(edit.text) == 1 for edit in edits) > 500
