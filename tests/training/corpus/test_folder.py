"""A corpus on disk: texts come back as they were, and damage is noticed."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.training.corpus import CorpusError, SourceText, build_corpus, read_corpus
from engine.training.corpus.folder import CorpusWriter, encode
from engine.training.corpus.manifest import Manifest

from .conftest import WheelMaker
from .made_up import program


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_text_is_one_line(texts: list[str]) -> None:
    for text in texts:
        assert encode(SourceText("alpha", "a.py", text)).count(b"\n") == 1


@pytest.mark.parametrize("text", ["", "no end", "x = '\U0001f600'\n", "a\tb\x0c\u2028\x85\n", "\n\n"])
def test_texts_come_back_as_they_were(tmp_path: Path, text: str) -> None:
    source = SourceText("alpha", "alpha/a.py", text)
    with CorpusWriter(tmp_path) as writer:
        writer.add(source)
        writer.finish(Manifest("3.11", (), (), None, 1, len(text), 0, writer.sha256))
    assert list(read_corpus(tmp_path)) == [source]


def test_about_one_text_in_a_hundred_is_for_validation_and_its_name_does_not_matter() -> None:
    sources = [SourceText("alpha", f"{i}.py", f"x = {i}\n") for i in range(5000)]
    chosen = [source for source in sources if source.for_validation]
    assert 25 < len(chosen) < 75
    assert all(SourceText("beta", "b.py", source.text).for_validation for source in chosen)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="file can't be written"):
        CorpusWriter(tmp_path / "file")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        pytest.raises(CorpusError, match=r"out can't be written \(No space left on device\)"),
        CorpusWriter(tmp_path / "out") as writer,
    ):
        monkeypatch.setattr(writer._packed, "write", full)
        writer.add(SourceText("alpha", "alpha/a.py", "x = 1\n"))
    assert list((tmp_path / "out").iterdir()) == []


def test_damage_is_noticed(tmp_path: Path, cache: Path, make_wheel: WheelMaker) -> None:
    make_wheel("alpha", {"a.py": program("red")})
    make_wheel("beta", {"a.py": program("blue")})
    one, two = tmp_path / "one", tmp_path / "two"
    with pytest.raises(CorpusError, match="holds no corpus"):
        read_corpus(one)
    build_corpus(one, cache, packages={"alpha": "1.0"}, held_out={})
    build_corpus(two, cache, packages={"beta": "1.0"}, held_out={})
    texts = (one / "texts.jsonl.gz").read_bytes()

    (one / "texts.jsonl.gz").write_bytes((two / "texts.jsonl.gz").read_bytes())
    with pytest.raises(CorpusError, match="its hash differs"):
        read_corpus(one)
    (one / "texts.jsonl.gz").write_bytes(texts[:-20])
    with pytest.raises(CorpusError, match="can't be read"):
        read_corpus(one)
    (one / "texts.jsonl.gz").write_bytes(b"not packed")
    with pytest.raises(CorpusError, match="can't be read"):
        read_corpus(one)
    (one / "texts.jsonl.gz").write_bytes(texts[:30] + bytes([texts[30] ^ 255]) + texts[31:])
    with pytest.raises(CorpusError):
        read_corpus(one)
    for damaged in ("{", '{"python": "3.11"}', "[]"):
        (one / "manifest.json").write_text(damaged)
        with pytest.raises(CorpusError, match=r"manifest\.json can't be read"):
            read_corpus(one)
