"""Adaptation on tiny models: what a canvas sees, that the base stays as it is, and that something is learnt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch
import transformers

from engine.training.adapt import Adaptation, AdaptationSettings
from engine.training.adapted_model import AdaptedModel
from engine.training.canvases import MASK, Canvas, Noise, NoiseShares, noised
from engine.training.examples import Example
from engine.training.loop import LoopSettings, export, train
from engine.training.run_folder import RunFolder
from engine.training.schedule import Schedule
from tests.denoisers import tiny

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """These models' steps are too short to share."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Examples:
    """Examples in memory, with the interface of a file of them."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self.fingerprint = f"{len(examples)} made-up examples"

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> Example:
        return self.examples[index]


def example(prompt: Sequence[int], middle: Sequence[int], near: Sequence[int]) -> Example:
    return Example(
        prompt=np.array(prompt, dtype=np.uint32),
        middle=np.array(middle, dtype=np.uint32),
        near=np.array(near, dtype=np.uint32),
        kind="line",
    )


def counting(n: int, seed: int) -> Examples:
    """Texts that count up, from anywhere: a rule that a tiny model learns."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        start = int(rng.integers(20, 60))
        numbers = list(range(start, start + 24))
        length = int(rng.integers(3, 8))
        found.append(example(numbers[:10], numbers[10 : 10 + length], numbers[10 + length : 14 + length]))
    return Examples(found)


def swapped(tokens: Sequence[int], rng: np.random.Generator, pool: Any) -> Sequence[int]:
    made = list(tokens)
    made[int(rng.integers(len(made)))] = int(rng.choice(pool))
    return made


def base(folder: Path, kind: str = "qwen2") -> Path:
    folder.mkdir()
    tiny.causal(folder, kind)
    return folder


def trained(folder: Path) -> Path:
    """A tiny causal model that can count."""
    folder.mkdir()
    network = tiny.causal(folder).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for step in range(150):
        prompts = torch.tensor(np.array([e.prompt for e in counting(32, 100 + step).examples]).astype(np.int64))
        ids = prompts[:, :1] + torch.arange(24)
        logits = network(ids).logits[:, :-1]
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    network.save_pretrained(folder)
    return folder


def all_masked(start: int, region: int) -> Canvas:
    rng = np.random.default_rng(0)
    return noised([5] * 40, start, region, 2, Noise.ALL, lambda tokens, _: tokens, rng)


def objective(folder: Path, seed: int = 0, **changes: Any) -> Adaptation:
    fixed = {"rank": 16, "region": 8, "near_suffix": 4, "canvases": 4, "lr": 5e-3, "opening": 10, "valid": 8}
    settings = AdaptationSettings(seed=seed, **{**fixed, **changes})
    data = counting(512, 0), counting(8, 1)
    return Adaptation(folder, "tiny", *data, settings, swapped, CPU, torch.float32)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["qwen2", "llama", "qwen3"])
def test_a_canvas_sees_what_is_before_it_and_itself(tmp_path: Path, kind: str) -> None:
    model = AdaptedModel(base(tmp_path / "base", kind), 4, 0, CPU, torch.float32)
    torch.manual_seed(1)
    for name, weight in model.peft.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, 0, 0.3)
    first = example(range(20, 40), range(50, 60), range(80, 84))
    later = example(range(20, 40), [*range(50, 53), *range(90, 97)], range(80, 84))  # differs from the fourth token on
    other_near = example(range(20, 40), range(50, 60), [7, *range(81, 84)])

    def cells(of: Example, canvases: list[Canvas], opened: float = 1.0) -> torch.Tensor:
        with torch.no_grad():
            with model.peft.disable_adapter():
                encoded, _ = model.encode([of])
            return model.denoise([of], [canvases], encoded, 4, opened)[0]

    alone = cells(first, [all_masked(3, 8)])
    beside = cells(first, [all_masked(0, 8), all_masked(3, 8), all_masked(5, 8)])
    assert torch.allclose(alone[0], beside[1], atol=1e-5)
    assert torch.allclose(alone, cells(later, [all_masked(3, 8)]), atol=1e-5)
    assert not torch.allclose(alone[:, 0], cells(other_near, [all_masked(3, 8)])[:, 0], atol=1e-3)
    closed = [cells(of, [all_masked(3, 8)], opened=1e-9)[0, 0] for of in (first, other_near)]
    assert torch.allclose(closed[0], closed[1], atol=1e-5)


def test_a_batch_equals_its_examples_alone(tmp_path: Path) -> None:
    """Padding changes nothing, neither in canvases nor in the base's own text."""
    model = AdaptedModel(base(tmp_path / "base"), 4, 0, CPU, torch.float32)
    both = [example(range(20, 40), range(50, 60), range(80, 84)), example(range(30, 36), range(60, 63), range(90, 92))]
    rows = [[all_masked(2, 8)], [all_masked(1, 8)]]

    def run(examples: list[Example], canvases: list[list[Canvas]], begun: list[int]) -> tuple[Any, Any]:
        with torch.no_grad(), model.peft.disable_adapter():
            encoded, _ = model.encode(examples)
            own, _ = model.greedy(examples, encoded, begun, 8)
            return model.denoise(examples, canvases, encoded, 4, 1.0), own

    together, own = run(both, rows, [2, 1])
    for i, begun in enumerate((2, 1)):
        alone, text = run([both[i]], [rows[i]], [begun])
        n = 9 + len(both[i].near)
        assert torch.allclose(alone[0, :, :n], together[i, :, :n], atol=1e-5)
        assert text[0] == own[i]


def test_the_first_cell_starts_at_the_pretrained_skill(tmp_path: Path) -> None:
    """Before any training, and with its right side closed, it predicts what the base predicts; so does `greedy`."""
    folder = trained(tmp_path / "base")
    model = objective(folder).model
    of = example(range(30, 40), range(40, 50), [])
    with torch.no_grad(), model.peft.disable_adapter():
        encoded, _ = model.encode([of])
        own, _ = model.greedy([of], encoded, [3], 6)
        cell = model.head(model.denoise([of], [[all_masked(3, 8)]], encoded, 0, 1e-9)[0, 0, 0])
        network = transformers.AutoModelForCausalLM.from_pretrained(folder)
        tokens = [*map(int, of.prompt), *map(int, of.middle[:3])]
        logits = network(torch.tensor([tokens])).logits[0, -1]
        assert torch.allclose(cell, logits, atol=1e-4)
        for token in own[0]:
            assert int(network(torch.tensor([tokens])).logits[0, -1].argmax()) == token
            tokens.append(token)
    assert own[0] == [43, 44, 45, 46, 47, 48]


def test_noised_canvases_show_what_they_say() -> None:
    text = [11, 12, 13, 14, 15]
    rng = np.random.default_rng(0)

    def slip(tokens: Sequence[int], _: Any) -> Sequence[int]:
        return [99, *tokens[1:]]

    whole = noised(text, 0, 8, 2, Noise.ALL, slip, rng)
    assert (whole.inputs == MASK).all()
    assert whole.targets.tolist() == [*text, 2, 2, 2]
    assert whole.weights.tolist() == pytest.approx([1, 1, 1, 1, 1, 1, 0.1, 0.1])
    later = noised(text, 3, 4, 2, Noise.SLIPS, slip, rng)
    assert later.targets.tolist() == [14, 15, 2, 2]
    assert later.inputs.tolist() == [99, 15, 2, 2]
    assert later.weights.tolist() == pytest.approx([1, 0.3, 0.3, 0.03])
    some = noised(text, 0, 8, 2, Noise.SOME, slip, rng)
    shown = some.inputs != MASK
    assert 0 < shown.sum() < 8
    assert (some.inputs[shown] == some.targets[shown]).all()
    assert (some.weights[shown] == 0).all()
    behind = noised(text, 5, 4, 2, Noise.ALL, slip, rng)
    assert behind.targets.tolist() == [2, 2, 2, 2]
    drawn = {NoiseShares(all=0, some=0, mixed=0.5, slips=0.5).draw(rng) for _ in range(50)}
    assert drawn == {Noise.MIXED, Noise.SLIPS}


def test_it_learns_and_the_base_stays_as_it_is(tmp_path: Path) -> None:
    folder = trained(tmp_path / "base")
    made = objective(folder, examples=8, together=8)
    before = {n: w.clone() for n, w in made.model.peft.named_parameters() if not w.requires_grad}
    run = RunFolder(tmp_path / "run")
    settings = LoopSettings(schedule=Schedule(warm_up=5, steps=140), validate_every=20, average=0.9)
    train(made, run, settings, lambda entry: None)
    valid = [entry["valid"] for entry in run.entries() if "valid" in entry]
    assert valid[-1]["agreed"] > 4  # of 8 cells drafted at once, by a model that could do one
    assert valid[-1]["loss_all"] < valid[0]["loss_all"] - 0.3
    for name, weight in made.model.peft.named_parameters():
        if name in before:
            assert torch.equal(weight, before[name]), name
    export(made, run, tmp_path / "out")
    record = json.loads((tmp_path / "out" / "midfill.json").read_text())
    assert record["denoiser"] == {
        "base": "tiny",
        "region": 8,
        "near_suffix": 4,
        "fill": "<eos>",
        "threshold": 0.9,
    }
    assert record["training"]["step"] == 140
    tensors = safetensors.torch.load_file(tmp_path / "out" / "adapter_model.safetensors")
    assert len(tensors) == 2 * 7 * 3
    assert safetensors.torch.load_file(tmp_path / "out" / "mask.safetensors")["mask_embedding"].shape == (48,)
    assert json.loads((tmp_path / "out" / "adapter_config.json").read_text())["r"] == 16


def test_a_resumed_adaptation_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    folder = base(tmp_path / "base")

    def run(path: Path, sittings: int) -> list[Any]:
        run_folder = RunFolder(path)
        for _ in range(sittings):
            told: list[Any] = []
            settings = LoopSettings(schedule=Schedule(warm_up=2, steps=8), validate_every=4)
            stop = lambda told=told: len(told) >= 10 // sittings  # noqa: E731
            train(objective(folder), run_folder, settings, told.append, stop)
        return [(e["step"], e.get("loss"), e.get("valid")) for e in run_folder.entries()]

    whole = run(tmp_path / "whole", 1)
    assert len(whole) == 10
    assert run(tmp_path / "parts", 3) == whole
