"""Tokens and text: the byte table, prompts, regions, guesses."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.denoisers.boundary import Boundary, echo_of
from engine.denoisers.causal import CausalDenoiser
from engine.denoisers.denoiser import DenoiserError
from engine.denoisers.guess import Lookup, copied_text
from engine.denoisers.jacobi import JacobiRow
from engine.denoisers.prompt import load_format, strided, window_start
from engine.denoisers.region import RegionReader
from engine.denoisers.uniform import UniformDenoiser
from engine.denoisers.vocabulary import Vocabulary, VocabularyError
from engine.protocol import Fill, Snippet
from tests.denoisers import tiny

BUNDLED = Path("engine/bundled")


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary(Path(__file__).parents[2] / BUNDLED, 4096)


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",))))
def test_bytes_survive_the_tokenizer(vocabulary: Vocabulary, text: str) -> None:
    assert vocabulary.decode(vocabulary.encode(text)) == text.encode()


def test_special_tokens_in_a_text_are_plain_text(vocabulary: Vocabulary) -> None:
    text = "x = '<|fim_middle|><eos><bos>'"
    ids = vocabulary.encode(text)
    assert not vocabulary.special & set(ids)
    assert vocabulary.decode(ids) == text.encode()


def test_tokens_by_their_beginning(vocabulary: Vocabulary) -> None:
    found = vocabulary.starting_with(b"re")
    assert found and all(vocabulary.decode((i,)).startswith(b"re") for i in found)
    expected = [i for i in range(4096) if vocabulary.decode((i,)).startswith(b"re")]
    assert sorted(found) == expected
    continuing = {vocabulary.decode((i,)) for i in vocabulary.continuing(b"ret")}
    assert {b"r", b"re", b"ret", b"return"} & continuing >= {b"r", b"re"}
    assert all(piece.startswith(b"ret") or b"ret".startswith(piece) for piece in continuing)


def test_a_broken_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(VocabularyError, match=r"tokenizer\.json"):
        Vocabulary(tmp_path, 10)


def test_a_model_that_cannot_infill_is_refused_in_words(tmp_path: Path) -> None:
    tiny.write_tokenizer(tmp_path)
    vocabulary = Vocabulary(tmp_path, tiny.VOCABULARY)
    (tmp_path / "midfill.json").write_text(json.dumps({"fim": {"end": "<|nothing|>"}}))
    with pytest.raises(DenoiserError, match="cannot infill"):
        load_format(tmp_path, vocabulary)
    (tmp_path / "midfill.json").write_text(json.dumps({"fim": {"ende": "<eos>"}}))
    with pytest.raises(DenoiserError, match="ende"):
        load_format(tmp_path, vocabulary)


@settings(max_examples=30, deadline=None)
@given(
    typed=st.lists(st.sampled_from(["x", " = ", "foo(", ")\n", "    ", "é", "😀", "return "]), min_size=1, max_size=40),
    n_before=st.integers(0, 400),
)
def test_typing_keeps_the_beginning_of_the_prompt(bundled: UniformDenoiser, typed: list[str], n_before: int) -> None:
    """Over a whole burst of typing the prompt's beginning moves at most once for every quarter window."""
    prefix = "value = compute(value)\n" * n_before
    prompts = []
    for i in range(len(typed) + 1):
        prompts.append(bundled.builder.build(Fill("a", prefix + "".join(typed[:i]), "\nend()\n")).tokens)
    assert all(len(prompt) <= 320 for prompt in prompts)
    kept = sum(_common(a, b) >= len(a) - 5 for a, b in itertools.pairwise(prompts))
    assert kept >= len(typed) - 3


def _common(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@given(length=st.integers(0, 10_000), size=st.integers(4, 500))
def test_windows_move_in_strides(length: int, size: int) -> None:
    start = strided(length, size)
    assert 0 <= start <= length
    assert length - start <= size
    assert start == 0 or length - start > size - size // 4 - 1
    text = ("x" * 9 + "\n") * (length // 10)
    assert len(text) - window_start(text, size) <= size


def test_a_window_of_one_endless_line(bundled: UniformDenoiser) -> None:
    prompt = bundled.builder.build(Fill("a", "x=1;" * 1_000_000, ";y=2" * 100_000))
    assert len(prompt.tokens) <= 320


def test_a_finished_line_is_not_withdrawn(bundled: UniformDenoiser, tiny_causal: CausalDenoiser) -> None:
    """Except where the tokenizer joins a line end with the indentation behind it, as the bundled model's does."""
    fill = Fill("a", "def f():\n", "\n")
    causal = tiny_causal.builder.build(fill)
    assert causal.heal == b""
    assert tiny_causal.vocabulary.decode(causal.prefix) == b"def f():\n"
    assert bundled.builder.build(fill).heal.endswith(b"\n")
    assert tiny_causal.builder.build(Fill("a", "def f():\n  ret", "\n")).heal in (b"t", b"et", b"ret")


def test_line_ends_do_not_change_a_fill(bundled: UniformDenoiser, tiny_causal: CausalDenoiser) -> None:
    for denoiser in (bundled, tiny_causal):
        unix = denoiser.open(Fill("a", "if x:\n    y", "\n\nreturn something\n"))
        dos = denoiser.open(Fill("a", "if x:\r\n    y", "\r\n\r\nreturn something\r\n"))
        assert dos.prompt == unix.prompt
        assert dos.reader.boundary.echo == unix.reader.boundary.echo != ""
        unix.close()
        dos.close()


def test_every_part_of_a_prompt_is_bounded(bundled: UniformDenoiser, tiny_causal: CausalDenoiser) -> None:
    long = "directory/" * 100_000
    snippets = (Snippet(long, "x = 1\n" * 100_000), Snippet("a.py", "y = 2\n"))
    fill = Fill("a", "z = " * 100_000, "w" * 100_000, language=long, path=long, snippets=snippets, guesses=(long * 20,))
    for denoiser in (bundled, tiny_causal):
        denoising = denoiser.open(fill)
        assert len(denoising.prompt.tokens) <= denoiser.builder.context_tokens
        assert len(denoising.prompt.prefix) > 50
        denoising.close()


def test_a_suffix_of_blank_lines_costs_nothing(vocabulary: Vocabulary) -> None:
    assert echo_of("\n" * 4_000_000) == ""


def test_added_tokens_in_a_text_are_plain_text(tmp_path: Path) -> None:
    """Whether flagged special or not, and with their text intact at the cursor."""
    stated = json.loads((Path(__file__).parents[2] / BUNDLED / "tokenizer.json").read_text())
    for i, name in enumerate(("<tool_call>", "<h1>", "<|im_user|>")):
        token = {**stated["added_tokens"][0], "id": 4096 + i, "content": name, "special": False}
        stated["added_tokens"].append(token)
    (tmp_path / "tokenizer.json").write_text(json.dumps(stated))
    vocabulary = Vocabulary(tmp_path, 4100)
    for text in ("s = '<tool_call>", "<h1>", "<|im_user|>", "<|fim_middle|>"):
        ids = vocabulary.encode(text)
        assert max(ids) < 4096 and not vocabulary.special & set(ids)
        assert vocabulary.decode(ids) == text.encode()
    assert vocabulary.encode_marked("<h1>") == [4097]
    assert vocabulary.decode([4097]) == b"<h1>", "an HTML tag is text"
    assert 4098 in vocabulary.silent, "a marker is none"


# Regions


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=30), marks=st.lists(st.booleans(), min_size=90, max_size=90), cut=st.integers(0, 5))
def test_spans_add_up_to_the_text(vocabulary: Vocabulary, text: str, marks: list[bool], cut: int) -> None:
    if "\ud800" <= max(text, default="a") <= "\udfff":
        return
    tokens = vocabulary.encode("ab" + text)
    reader = RegionReader(vocabulary, b"ab", frozenset((6,)), Boundary())
    read = reader.text(tokens)
    assert read.whole
    spans = reader.spans(tokens, (marks * 3)[: len(tokens)])
    assert "".join(span.text for span in spans) == read.text
    assert all(a.settled != b.settled for a, b in itertools.pairwise(spans))


def test_a_region_ends_at_its_end_token_line_or_the_suffix(vocabulary: Vocabulary) -> None:
    tokens = vocabulary.encode("x = 1\ny = 2\n    def write(self):\n        pass")
    suffix = "    def write(self):\n        pass\n"
    assert RegionReader(vocabulary, b"", frozenset(), Boundary(max_lines=1)).text(tokens).text == "x = 1"
    reader = RegionReader(vocabulary, b"", frozenset((6,)), Boundary(suffix=suffix))
    assert reader.text(tokens).text == "x = 1\ny = 2\n"
    assert reader.is_whole(tokens)
    assert not reader.is_whole(tokens[:3])
    assert reader.text([*tokens[:3], 6, *tokens]).n_tokens == 3


@pytest.mark.parametrize(
    ("suffix", "echo"),
    [
        ("", ""),
        ("\n", ""),
        (")\n", ""),
        (")\n}\nreturn result\n", ")\n}\nreturn result\n"),
        ("    x = compute(y)\nz", "    x = compute(y)\n"),
    ],
)
def test_what_counts_as_the_suffix(suffix: str, echo: str) -> None:
    assert echo_of(suffix) == echo


@pytest.mark.parametrize(
    ("prefix", "suffix", "depth"),
    [
        ("", "", 0),
        ("def f():\n    x = 1\n", "    return x\n", 4),
        ("def f():\n    if x:\n        y()\n", "    return x\n", 4),
        ("def f():\n", "    return x\n", 0),
        ("    x = f(", ")\n    return x\n", 4),
        ("    x = f(", ")\n\n\ndef g():\n", 1),
        ("\tif x:\n\t\ty()\n", "\n\treturn\n", 8),
        ("    x = 1\n", "", 0),
        ("    x = 1", "", 1),
    ],
)
def test_how_deep_a_region_lies(prefix: str, suffix: str, depth: int) -> None:
    assert Boundary(prefix, suffix).depth == depth


def test_a_region_ends_where_its_block_ends(vocabulary: Vocabulary) -> None:
    prefix, suffix = "def f(x):\n    y = 1\n", "    return y\n"
    reader = RegionReader(vocabulary, b"", frozenset(), Boundary(prefix, suffix))
    inside = vocabulary.encode("    if x:\n\n        y = 2\n")
    assert not reader.is_whole(inside)
    outside = vocabulary.encode("    if x:\n\n        y = 2\n\n\ndef g():\n")
    assert reader.is_whole(outside)
    assert reader.text(outside).text == "    if x:\n\n        y = 2\n"


@pytest.mark.parametrize(
    ("prefix", "written", "suffix", "kept"),
    [
        pytest.param(
            "function add(a, b) {\n  return ",
            "a + b;\n}\n\nconsole.log(add(1, 2)); // Output: 3\n```\n",
            "\n}\n\nconsole.log(add(1, 2));\n",
            "a + b;",
            id="the suffix again, and more on its line",
        ),
        pytest.param(
            "function add(a, b) {\n  return ",
            "a + b;\n}\n\nadd(1);\n",
            "\n}\n",
            "a + b;",
            id="a closer that is there already",
        ),
        pytest.param(
            "function add(a, b) {\n  return ",
            "a + b;\n}\n\nadd(1);\n",
            "\n",
            "a + b;\n}",
            id="a closer that is not there",
        ),
        pytest.param(
            "def f(a):\n    return ", "a\n\nx = f(1)\n", "\n\nx = f(\n", "a", id="a line that the suffix begins"
        ),
        pytest.param("def f(a):\n    return ", "a\n\n\ndef g(b):\n", "\n", "a", id="new code at the top"),
        pytest.param("def f(a):\n    ", "x = a\n    return x\n\ng()\n", "\n", "x = a\n    return x", id="one block"),
        pytest.param(
            "def f(a):\n",
            "    return a\n\n\ndef g(b):\n    return b\n",
            "\n\nx = 1\n",
            "    return a",
            id="begun in a block",
        ),
        pytest.param("x = 1\n", "y = 2\n```\nIn this example\n", "", "y = 2\n", id="a fence"),
        pytest.param("```\nx = 1\n", "y = 2\n```\nText\n", "", "y = 2\n```\nText\n", id="a fence in a text of fences"),
        pytest.param(
            "def f():\n    x = ",
            "1\n    return results\n",
            "\n    return result\n",
            "1\n    return results\n",
            id="another word",
        ),
        pytest.param(
            "for x in y:\n    if x:\n        ", "f(x)\n    g(x)\n", "\n", "f(x)\n    g(x)\n", id="an outer block"
        ),
    ],
)
def test_where_a_region_ends(prefix: str, written: str, suffix: str, kept: str) -> None:
    boundary = Boundary(prefix, suffix)
    assert boundary.cut(written.encode(), complete=True).decode() == kept
    if kept != written:
        assert boundary.cut(written.encode(), complete=False).decode() == kept
        shown = [boundary.cut(written[:n].encode(), complete=False).decode() for n in range(len(written) + 1)]
        assert all(kept.startswith(text) or text.startswith(kept) for text in shown), "nothing is shown and taken back"


@pytest.mark.parametrize(
    ("prefix", "tokens", "suffix", "kept"),
    [
        ("x = ", "1 + y", "\n", ""),  # half a line
        ("x = ", "", "\n", ""),
        ("", "\n\n", "", ""),
        ("x = ", "1\n", "\ny = 2\n", "1"),
        ("def f():\n    ", "a = 1\n    b = 2\n    ret", "\n", "a = 1\n    b = 2"),
        ("def f():\n    ", "a = 1\n    b = 2\n    ret", "", "a = 1\n    b = 2\n"),
        ("def f():\n\t", "s = '😀'\n\ts = '\U0001f600", "\n", "s = '😀'"),
        ("def f():\n    ", "a = 1\ndef g():\n    ret", "\n", "a = 1"),  # the boundary was reached: it is whole
    ],
)
def test_of_an_unfinished_text_whole_lines_are_an_answer(
    vocabulary: Vocabulary, prefix: str, tokens: str, suffix: str, kept: str
) -> None:
    reader = RegionReader(vocabulary, b"", frozenset({6}), Boundary(prefix, suffix))
    read = reader.unfinished(vocabulary.encode(tokens))
    assert (read.text, read.whole) == (kept, True)
    assert reader.unfinished([*vocabulary.encode("1 + y"), 6]).text == "1 + y", "its end is there"
    assert reader.unfinished([*vocabulary.encode("1 + y"), 6, 70]).text == "1 + y"


def test_one_line_is_whole_at_its_line_end(vocabulary: Vocabulary) -> None:
    reader = RegionReader(vocabulary, b"wi", frozenset(), Boundary("", "\n", max_lines=1))
    assert reader.unfinished(vocabulary.encode("with x")).text == ""
    assert reader.unfinished(vocabulary.encode("with x\n  y")).text == "th x"


def test_a_split_character_is_shown_late_and_never_garbled(vocabulary: Vocabulary) -> None:
    tokens = vocabulary.encode("a😀b")
    reader = RegionReader(vocabulary, b"", frozenset(), Boundary())
    for n in range(len(tokens) + 1):
        shown = "".join(span.text for span in reader.spans(tokens[:n], [True] * n))
        assert "a😀b".startswith(shown)
        assert reader.text(tokens[:n]).whole


def test_bytes_that_are_no_text_are_no_answer(vocabulary: Vocabulary) -> None:
    continuation = next(i for i in range(4096) if vocabulary.decode((i,)) == b"\x80")
    reader = RegionReader(vocabulary, b"", frozenset(), Boundary())
    assert not reader.text([*vocabulary.encode("a"), continuation, *vocabulary.encode("b")]).whole


# Guesses


def test_copied_text_follows_the_longest_match() -> None:
    prefix = "for item in items:\n    total += item.price\nfor item in others:\n    total += item.pr"
    assert copied_text(prefix, "", 9).startswith("ice")
    assert copied_text("abc", "", 9) == ""
    assert copied_text("zz return val", "\n return value + 1\n", 6) == "ue + 1"


def test_lookup_prefers_the_latest_of_the_longest() -> None:
    lookup = Lookup([1, 2, 3, 4, 9, 2, 3, 5, 8])
    assert lookup.guess([2, 3], 2) == [5, 8]
    assert lookup.guess([1, 2, 3], 2) == [4, 9]
    assert lookup.guess([7], 2) == []


@given(
    truth=st.lists(st.integers(0, 3), min_size=1, max_size=30),
    noise=st.lists(st.integers(0, 3), max_size=30),
    width=st.integers(0, 9),
)
def test_jacobi_is_exact_and_always_moves(truth: list[int], noise: list[int], width: int) -> None:
    """Against a model that says `truth` as long as it is followed, and 99 once it is not."""
    row = JacobiRow(Lookup([1, 2]), [1], b"", lambda _: b"x", lambda done: len(done) >= len(truth), guess=list(noise))
    for _ in range(len(truth)):
        canvas = row.canvas(width)
        position = len(row.accepted)
        predictions = []
        for i in range(len(canvas) + 1):
            follows = canvas[:i] == truth[position : position + i]
            predictions.append(truth[position + i] if follows and position + i < len(truth) else 99)
        assert row.take(canvas, predictions, [0.0] * len(predictions)) >= 1
        if row.done:
            break
    assert row.accepted == truth


def test_a_fill_with_nothing_in_view(tiny_causal: CausalDenoiser) -> None:
    denoising = tiny_causal.open(Fill("a", "", "", max_tokens=5))
    while denoising.advance().reason is None:
        pass
    assert denoising._rows[0].done
    assert len(denoising.candidates()) <= 1  # none, where random weights have made bytes that are no text
