"""Examples: tokens give the text back, a file gives the examples back, the same inputs give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.catalog import BUNDLED_DIR
from engine.protocol import Snippet
from engine.training.examples import Example, ExampleError, ExampleMaker, ExampleSet, ExampleSettings, write_examples
from engine.training.hole_tokens import HoleTokens
from engine.training.holes import Hole, HoleKind, HoleShares
from tests.denoisers import tiny
from tests.training.sources import CODE, OTHER, PACKAGE

BUNDLED = HoleTokens(BUNDLED_DIR, 320, 128)


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A causal model's folder without weights, whose prompts take snippets."""
    monkeypatch.setattr(tiny, "SPECIAL", (*tiny.SPECIAL, "<|file_sep|>"))
    folder = tmp_path / "causal"
    folder.mkdir()
    tiny.write_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps({"vocab_size": tiny.VOCABULARY}))
    return folder


def lists(examples: Iterable[Example]) -> list[tuple[list[int], list[int], list[int], str]]:
    return [(e.prompt.tolist(), e.middle.tolist(), e.near.tolist(), e.kind) for e in examples]


@settings(deadline=None)
@given(text=st.one_of(st.text(max_size=80), st.sampled_from([CODE, OTHER])), data=st.data())
def test_tokens_give_the_text_back(text: str, data: st.DataObject) -> None:
    text = text.replace("\r", "\n")
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    hole = Hole(HoleKind.SPAN, text[:start], text[start:end], text[end:], "a.py")
    example = BUNDLED.make(hole, data.draw(st.integers(0, 2)))
    if example is None:  # the prompt's last token ends within a character, or the middle is long
        assert not text.isascii() or end - start > 47
        return
    vocabulary = BUNDLED.vocabulary
    tokens = example.prompt.tolist()
    assert len(tokens) <= BUNDLED.sizes[2]
    assert tokens[-1] == vocabulary.id("<|fim_middle|>")
    first = tokens.index(vocabulary.id("<|fim_prefix|>"))
    before = vocabulary.decode([*tokens[first + 1 :], *example.middle.tolist()])
    assert text[:end].encode().endswith(before)
    if len(text) < 40:
        assert before == text[:end].encode()
    assert text[end:].encode().startswith(vocabulary.decode(example.near.tolist()))


def test_a_causal_models_middle_begins_with_what_was_withdrawn(checkpoint: Path) -> None:
    tokens = HoleTokens(checkpoint, 320, 128)
    hole = Hole(HoleKind.REST_OF_LINE, "x = 1\nret", "urn x", "\n\ny = 2\n", "a.py")
    example = tokens.make(hole, 2)
    assert example is not None
    decode = tokens.vocabulary.decode
    assert decode(example.prompt.tolist()[-6:]) == b"x = 1\n"
    assert decode(example.middle.tolist()) == b"return x"
    assert decode(example.near.tolist()) == b"\n\ny = 2\n"
    assert len(example.near) == 8
    withdrawn = tokens.make(hole, 2, (Snippet("b.py", "def one(): pass"),))
    assert withdrawn is not None
    assert b"def one(): pass" in decode(withdrawn.prompt.tolist())


def test_nothing_is_missing(checkpoint: Path) -> None:
    tokens = HoleTokens(checkpoint, 320, 128)
    example = tokens.make(Hole(HoleKind.EMPTY, "x = 1\n", "", "y", "a.py"), 0)
    assert example is not None
    assert len(example.middle) == 0
    example = tokens.make(Hole(HoleKind.EMPTY, "", "", "", "a.py"), 0)
    assert example is not None
    assert len(example.near) == 0
    assert len(example.prompt) == 3  # the markers alone


def test_what_does_not_fit_is_refused(checkpoint: Path) -> None:
    hole = Hole(HoleKind.LINE, "", "some words of a line", "", "a.py")
    assert HoleTokens(checkpoint, 64, 5).make(hole, 0) is None
    long = Hole(HoleKind.LINE, "", "word_of " * 40, "", "a.py")
    assert BUNDLED.make(long, 0) is None  # no region of this model holds it
    with pytest.raises(ExampleError, match="32 tokens"):
        HoleTokens(checkpoint, 8, 5)
    (checkpoint / "midfill.json").write_text(json.dumps({"fim": {"end": "<|none|>"}}))
    with pytest.raises(ExampleError, match="cannot infill"):
        HoleTokens(checkpoint, 64, 5)


def test_a_file_gives_the_examples_back(checkpoint: Path, tmp_path: Path) -> None:
    out, told = tmp_path / "sets" / "a.safetensors", []
    chosen = ExampleSettings(seed=3, prompt_tokens=600, snippets=1.0)
    assert write_examples(iter(PACKAGE), checkpoint, out, 60, chosen, told.append) == 60
    assert told[-1] == 60
    found = ExampleSet.open(out)
    found.check(checkpoint)
    assert len(found) == len(list(found)) == 60
    assert {e.kind for e in found} >= {"rest of line", "line", "block"}
    assert lists([found[-1]]) == lists([found[59]])
    with pytest.raises(IndexError):
        found[60]
    assert max(len(e.prompt) for e in found) <= 600
    assert found[0].prompt.dtype == np.uint32
    assert found.told["settings"]["seed"] == 3
    assert found.told["model"] == "causal"
    separator = HoleTokens(checkpoint, 64, 8).vocabulary.id("<|file_sep|>")
    assert any((e.prompt == separator).any() for e in found)
    maker = ExampleMaker(checkpoint, PACKAGE, chosen)
    alone = lists(example for number in range(3) for example in maker.of_file(number, range(200)))
    assert all(example in alone for example in lists(found))  # any of them can be made again


def test_the_same_inputs_give_the_same_bytes(checkpoint: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{n}.safetensors" for n in range(4)]
    for file, seed, sources in zip(files, (1, 1, 2, 1), (PACKAGE, PACKAGE, PACKAGE, PACKAGE[:2]), strict=True):
        write_examples(sources, checkpoint, file, 20, ExampleSettings(seed=seed))
    assert files[0].read_bytes() == files[1].read_bytes()
    sets = [ExampleSet.open(file) for file in files]
    assert len({one.fingerprint for one in sets}) == 3
    assert sets[0].told["corpus"] == sets[2].told["corpus"] != sets[3].told["corpus"]


def test_a_small_corpus_gives_fewer(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "none.safetensors"
    assert write_examples([], checkpoint, out, 5, ExampleSettings()) == 0
    assert len(ExampleSet.open(out)) == 0
    none = ExampleSettings(shares=HoleShares(rest_of_line=0, span=0, line=0, block=1, empty=0), middle_tokens=1)
    assert write_examples(PACKAGE, checkpoint, out, 5, none) == 0


def test_other_files_are_refused(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match="there are no examples"):
        ExampleSet.open(tmp_path / "none")
    broken, other = tmp_path / "broken", tmp_path / "other"
    broken.write_bytes(b"not examples at all")
    with pytest.raises(ExampleError, match="can't be read"):
        ExampleSet.open(broken)
    safetensors.numpy.save_file({"tokens": np.zeros(3)}, other)
    with pytest.raises(ExampleError, match="does not hold examples"):
        ExampleSet.open(other)
    made = tmp_path / "made"
    write_examples(PACKAGE, checkpoint, made, 3, ExampleSettings())
    with pytest.raises(ExampleError, match="another"):
        ExampleSet.open(made).check(BUNDLED_DIR)
    with pytest.raises(ExampleError, match="no tokenizer"):
        ExampleSet.open(made).check(tmp_path)
