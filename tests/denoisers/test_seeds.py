"""Texts that compete as they are, and rows that start from one."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
import torch

from engine.denoisers.uniform import UniformDenoiser, UniformDenoising
from engine.protocol import Fill
from tests.denoisers.conftest import Open

LOOP = "for name in sorted(names):\n    total += sizes[name]\n    print(name)\n"
FILL = Fill("a", LOOP + "\n\nfor na", "\n\nprint(total)\n", max_tokens=32)


def texts(denoising: UniformDenoising, regions: Sequence[Sequence[int]]) -> list[str]:
    return [denoising.reader.text(region).text for region in regions]


def seeds_of(denoiser: UniformDenoiser, fill: Fill) -> list[str]:
    denoising = denoiser.open(fill)
    found = texts(denoising, denoising.seeds)
    heal = denoising.prompt.heal
    assert all(denoiser.vocabulary.decode(seed).startswith(heal) for seed in denoising.seeds)
    denoising.close()
    return found


def run(denoising: UniformDenoising) -> list[object]:
    frames: list[object] = []
    while (progress := denoising.advance()).reason is None:
        frames.append(progress.frame)
    return frames


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"max_lines": 1}, ["me in sorted(names):"]),
        ({"max_lines": 1, "guesses": ("xt()",)}, ["xt()", "me in sorted(names):"]),
        ({"max_lines": 1, "guesses": ("me in sorted(names):", "")}, ["me in sorted(names):"]),  # no two alike
        ({"max_lines": 1, "guesses": ("a", "b", "c")}, ["a", "b", "me in sorted(names):"]),
        ({"guesses": ("xt():\r\n    pass",), "prefix": "for na"}, ["xt():\n    pass"]),
        ({"prefix": "y = ", "suffix": "\n"}, []),
        ({"prefix": "", "suffix": ""}, []),
        ({"prefix": "y = ", "suffix": "\n", "guesses": ("long " * 500,)}, []),  # longer than a region
    ],
)
def test_what_competes(bundled: UniformDenoiser, change: dict[str, object], found: list[str]) -> None:
    assert seeds_of(bundled, attrs.evolve(FILL, **change)) == found  # type: ignore[arg-type]


def test_without_copies_nothing_competes(load: Open) -> None:
    alone = load("bundled", copies="off")
    assert isinstance(alone, UniformDenoiser)
    assert seeds_of(alone, attrs.evolve(FILL, guesses=("xt()",))) == []


def test_of_a_copy_a_few_lines_compete(bundled: UniformDenoiser) -> None:
    prefix = "begin\n" + "".join(f"a{i}\n" for i in range(9)) + "\nbegin\n"
    (seed,) = seeds_of(bundled, Fill("a", prefix, "", max_tokens=48))
    assert seed == "a0\na1\na2\na3"


def test_a_copy_that_may_go_on_ends_with_a_whole_line(bundled: UniformDenoiser) -> None:
    prefix = "begin\nfirst\n" + "second " * 60 + "\nbegin\n"
    assert seeds_of(bundled, Fill("a", prefix, "", max_tokens=16)) == ["first"]


def test_a_seed_changes_nothing_that_the_model_makes(bundled: UniformDenoiser) -> None:
    plain, seeded = (
        bundled.open(attrs.evolve(FILL, prefix=FILL.prefix)),
        bundled.open(attrs.evolve(FILL, guesses=("t_in_the_buffer",))),
    )
    assert run(plain) == run(seeded)
    ours = [candidate for candidate in plain.candidates() if candidate.n_steps]
    assert ours and [candidate for candidate in seeded.candidates() if candidate.n_steps] == ours


def test_a_seed_wins_by_its_score_only(bundled: UniformDenoiser) -> None:
    denoising = bundled.open(attrs.evolve(FILL, max_lines=1, guesses=("ÿÿ§§ÿÿ§§ÿÿ",)))
    run(denoising)
    candidates = denoising.candidates()
    scores = [candidate.score for candidate in candidates]
    assert scores == sorted(scores, reverse=True) and all(score < 0 for score in scores)
    assert candidates[0].text != "ÿÿ§§ÿÿ§§ÿÿ"
    assert {(one.n_steps, one.converged) for one in candidates if one.text == "me in sorted(names):"} == {(0, True)}


def test_before_the_ranking_no_seed_is_an_answer(bundled: UniformDenoiser) -> None:
    denoising = bundled.open(FILL)
    while not denoising.counts.n_steps:
        denoising.advance()
    assert denoising.seeds
    assert all(candidate.n_steps for candidate in denoising.candidates())


@pytest.mark.parametrize("model", ["bundled", "tiny_gemma"])
def test_where_there_are_alternatives_one_starts_from_a_seed(model: str, request: pytest.FixtureRequest) -> None:
    denoiser: UniformDenoiser = request.getfixturevalue(model)
    fill = attrs.evolve(FILL, prefix="for na", suffix="\n", guesses=("xt",), n_alternatives=3)
    denoising, plain = denoiser.open(fill), denoiser.open(attrs.evolve(fill, guesses=()))
    n = denoising.n_cells[-1]
    row = denoising.canvas[-1, :n].tolist()
    assert texts(denoising, [row]) == ["xt"]
    assert denoiser.end is not None and row == denoising.seeds[0] + [denoiser.end] * (n - len(denoising.seeds[0]))
    for other in range(2):
        assert torch.equal(
            denoising.canvas[other][: denoising.n_cells[other]], plain.canvas[other][: plain.n_cells[other]]
        )
    run(denoising)
    denoising.close()
