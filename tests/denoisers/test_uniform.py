"""What must hold for every uniform fill."""

from __future__ import annotations

import pytest
import torch

from engine.denoisers.uniform import UniformDenoiser, UniformDenoising
from engine.protocol import Fill, Reason, Span

PREFIX = "import os\n\n\nclass Reader:\n    def read(self, path):\n        with open(path) as file:\n            ret"
SUFFIX = "\n\n    def write(self, path, text):\n        pass\n"


def run(denoising: UniformDenoising) -> tuple[list[tuple[Span, ...]], Reason]:
    frames = []
    while True:
        progress = denoising.advance()
        if progress.frame is not None:
            frames.append(progress.frame)
        if progress.reason is not None:
            return frames, progress.reason


@pytest.mark.parametrize("seed", range(4))
def test_same_seed_same_frames_alone_or_beside_others(bundled: UniformDenoiser, seed: int) -> None:
    fill = Fill("a", PREFIX, SUFFIX, max_tokens=32, max_lines=1, seed=seed)
    alone, _ = run(bundled.open(fill))
    again, _ = run(bundled.open(fill))
    assert alone == again
    beside = bundled.open(Fill("a", PREFIX, SUFFIX, max_tokens=32, max_lines=1, seed=seed, n_alternatives=4))
    frames, _ = run(beside)
    assert frames[: len(alone)] == alone  # others may go on for longer
    assert len({c.text for c in beside.candidates()}) == len(beside.candidates())


@pytest.mark.parametrize("model", ["bundled", "tiny_gemma"])
def test_clamped_cells_never_change_and_control_tokens_never_appear(model: str, request: pytest.FixtureRequest) -> None:
    denoiser: UniformDenoiser = request.getfixturevalue(model)
    denoising = denoiser.open(Fill("a", PREFIX, SUFFIX, max_tokens=12, n_alternatives=3))
    before = denoising.canvas.clone()
    clamped = denoising._clamped
    while denoising.advance().reason is None:
        assert torch.equal(denoising.canvas[clamped], before[clamped])
        assert not torch.isin(denoising.argmax[denoising._free], denoiser.banned).any()
    for candidate in denoising.candidates():  # none, where random weights have made bytes that are no text
        assert "|>" not in candidate.text


def test_the_region_begins_with_the_withdrawn_text(bundled: UniformDenoiser) -> None:
    denoising = bundled.open(Fill("a", PREFIX, SUFFIX, max_tokens=16))
    heal = denoising.prompt.heal
    assert heal and PREFIX.encode().endswith(heal)
    run(denoising)
    assert bundled.vocabulary.decode(denoising._region(0)).startswith(heal)


def test_candidates_are_ranked_by_the_causal_pass(bundled: UniformDenoiser) -> None:
    denoising = bundled.open(Fill("a", PREFIX, SUFFIX, max_tokens=32, n_alternatives=4))
    run(denoising)
    scores = [candidate.score for candidate in denoising.candidates()]
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)
    assert all(score < 0 for score in scores)


def test_scores_equal_a_plain_causal_pass(tiny_gemma: UniformDenoiser) -> None:
    """Ranking rows over the shared prompt against the stock encoder over each whole text."""
    denoising = tiny_gemma.open(Fill("a", PREFIX * 2, SUFFIX, max_tokens=12, n_alternatives=3))
    run(denoising)
    prompt, near = denoising.prompt, list(denoising.prompt.near[:8])
    head = list(prompt.tokens[: prompt.n_scoring])
    for row, score in enumerate(denoising._scores):
        region = denoising._region(row)
        text = region[: denoising.reader.length(region)] + near
        ids = torch.tensor([head + text])
        with torch.inference_mode():
            hidden = tiny_gemma.forward.model.model.encoder(input_ids=ids).last_hidden_state
            logits = tiny_gemma.forward.logits(hidden[0, len(head) - 1 : -1])
        expected = torch.log_softmax(logits, -1).gather(1, torch.tensor(text).unsqueeze(1)).mean()
        assert score == pytest.approx(expected.item(), abs=1e-4)


def test_a_line_stops_at_its_end(bundled: UniformDenoiser) -> None:
    for seed in range(6):
        denoising = bundled.open(Fill("a", PREFIX, SUFFIX, max_tokens=48, max_lines=1, seed=seed))
        frames, _ = run(denoising)
        assert all("\n" not in span.text for frame in frames for span in frame)
        assert all("\n" not in candidate.text for candidate in denoising.candidates())


@pytest.mark.parametrize(
    ("text", "n_tentative", "answer"),
    [
        ("urn 1\n        x = 2", 0, ["urn 1"]),  # cells behind it have not settled: the line may go on
        ("urn 1\n        x = 2<end>", 0, ["urn 1\n        x = 2"]),
        ("urn 1\n        x = 2<end>", 2, ["urn 1"]),
        ("urn 1", 1, []),
        ("", 0, []),
        ("<end>", 0, []),  # nothing is no answer before the model has decided
    ],
)
def test_of_a_canvas_at_work_only_settled_lines_are_an_answer(
    bundled: UniformDenoiser, text: str, n_tentative: int, answer: list[str]
) -> None:
    denoising = bundled.open(Fill("a", PREFIX, "\n" + SUFFIX, max_tokens=48))
    while not denoising.counts.n_steps:
        denoising.advance()
    words, end, _ = text.partition("<end>")
    tokens = bundled.vocabulary.encode(denoising.prompt.heal.decode() + words) + [bundled.end or 0] * bool(end)
    denoising._converged[0] = False
    denoising.argmax[0, : len(tokens)] = torch.tensor(tokens)
    denoising._settled[0] = torch.arange(denoising._width) < len(tokens) - n_tentative
    assert [candidate.text for candidate in denoising.candidates()] == answer
    denoising.close()


@pytest.mark.parametrize(
    ("prefix", "suffix"),
    [
        ("", ""),
        ("", "x = 1\n"),
        ("x = '😀😀", "'\n"),
        ("\t\tif x:\r\n\t\t\t", "\r\n"),
        ("a" * 200_000, "b" * 200_000),
        ("<|fim_middle|><eos>", "<|fim_pad|>"),
        ("\ud83d", "\ude00"),
        ("\x00\x01", "\x7f"),
    ],
)
def test_any_text_is_taken(bundled: UniformDenoiser, prefix: str, suffix: str) -> None:
    denoising = bundled.open(Fill("a", prefix, suffix, max_tokens=16))
    assert len(denoising.prompt.tokens) <= bundled.builder.context_tokens
    _, reason = run(denoising)
    assert reason in (Reason.CONVERGED, Reason.LIMIT)
    for candidate in denoising.candidates():
        candidate.text.encode()
    denoising.close()
