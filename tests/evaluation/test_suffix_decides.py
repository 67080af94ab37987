"""The rule on small files: `[[` and `]]` mark the hole."""

from __future__ import annotations

import itertools

import pytest

from engine.evaluation.rebuild import Source, held_out_cases
from engine.evaluation.suffix_decides import suffix_decides


def decides(marked: str) -> bool:
    start = marked.index("[[")
    end = marked.index("]]") - 2
    return suffix_decides(marked.replace("[[", "").replace("]]", ""), start, end)


@pytest.mark.parametrize(
    "marked",
    [
        "[[size = 3]]\nprint(size)\n",
        "[[size = 3\n]]print(1, s)\nsize2 = size\n",
        "def f([[size, depth]]):\n    return depth\n",
        "[[from os import path as place]]\nplace.join()\n",
        "[[import os.path]]\nos.getcwd()\n",
        "[[def grow(tree):]]\n    return tree\n",
        "[[class Tree:]]\n    pass\n\nTree()\n",
        "for [[leaf in range(3):]]\n    print(leaf)\n",
        "with open('a') as [[file:]]\n    file.read()\n",
        "[[a, (b, *rest) = c]]\nprint(rest)\n",
        "[[async def grow():]]\n    pass\n\ngrow()\n",
        "wert = '\U0001f600é'; [[größe = 1]]\nprint(größe)\n",
        "x = 1\f\n[[size = 3]]\nprint(size)\n",
    ],
)
def test_it_decides(marked: str) -> None:
    assert decides(marked)


@pytest.mark.parametrize(
    "marked",
    [
        "[[size = 3]]\n",  # nobody reads it
        "size = 0\n[[size = 3]]\nprint(size)\n",  # named before
        "# size\n[[size = 3]]\nprint(size)\n",  # even in a comment
        "[[size = 3]]\nsize = 4\nprint(size)\n",  # another one is read
        "[[print(size)]]\nprint(size)\n",  # read, not defined
        "[[tree.size = 3]]\nprint(tree.size)\n",  # a name's part
        "[[size = 3]]\n" + "# far\n" * 100 + "print(size)\n",
        "si[[ze = 3]]\nprint(size)\n",  # the cut says how it begins, and the place of the name is before the hole
        "[[from os import *]]\nprint(path)\n",
        "[[size = 3]]\nprint(size\n",  # no Python
        "[[size = 3]]\nprint(\0size)\n",
        "",
    ],
)
def test_it_does_not(marked: str) -> None:
    assert not decides(marked or "[[]]")


def test_cases_are_cut_by_the_rule_and_fixed_by_the_seed() -> None:
    text = '"""Made up."""\n\n' + "".join(
        f"def grow_{i}(tree_{i}):\n    size_{i} = len(tree_{i})\n    leaf = size_{i} + 1\n    return leaf\n\n\n"
        for i in range(40)
    )
    sources = [Source("made-up", f"{name}.py", text) for name in "ab"]
    cases = held_out_cases(sources, 0, suffix_decides)
    assert cases and cases == held_out_cases(sources[::-1], 0, suffix_decides)
    assert {case.kind for case in cases} == {case.kind for case in held_out_cases(sources, 0)}
    for case in cases:
        start = int(case.id.split(":")[1])
        assert suffix_decides(text, start, start + len(case.middle))
        words = itertools.chain.from_iterable((f"grow_{i}", f"tree_{i}", f"size_{i}", "leaf") for i in range(40))
        assert any(word in case.middle and word in case.suffix and word not in case.prefix for word in words)
