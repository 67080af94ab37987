"""The absorbing family: exact prefix, the adapter on canvas cells only, `verified` equal to greedy, `free` ends."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import peft
import pytest
import safetensors.torch
import torch
import transformers

from engine.denoisers.absorbing import AbsorbingDenoiser, AbsorbingDenoising, Policy
from engine.denoisers.adapter import Adapter
from engine.denoisers.canvas import MASK, Canvas
from engine.denoisers.causal import CausalDenoiser, CausalDenoising
from engine.denoisers.denoiser import Denoiser, DenoiserError
from engine.denoisers.kv_store import KVStore
from engine.denoisers.memory import PromptWriter
from engine.models.resolve import ModelNotFoundError, resolve
from engine.protocol import Family, Fill
from engine.training.adapted_model import AdaptedModel
from engine.training.canvases import Noise, noised
from engine.training.examples import Example
from tests.denoisers import tiny

PREFIX = "def read(path):\n    with open(path) as file:\n        return file.read()\n\n\ndef write(path, text):\n    wi"
SUFFIX = "\n\n\ndef remove(path):\n    path.unlink()\n"
REGION, NEAR = 8, 4
Open = Callable[..., Denoiser]


def write_adapter(folder: Path, base: Path, strength: float = 0.3, **changes: Any) -> Path:
    """A random adapter as peft writes it."""
    folder.mkdir(exist_ok=True)
    network = transformers.AutoModelForCausalLM.from_pretrained(base)
    names = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    torch.manual_seed(3)
    model = peft.get_peft_model(network, peft.LoraConfig(r=4, lora_alpha=8, target_modules=names))
    for name, weight in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, 0, strength)
    state = peft.get_peft_model_state_dict(model, save_embedding_layers=False)
    safetensors.torch.save_file({n: w.contiguous() for n, w in state.items()}, folder / "adapter_model.safetensors")
    model.peft_config["default"].save_pretrained(str(folder))
    mask = torch.randn(network.config.hidden_size)
    safetensors.torch.save_file({"mask_embedding": mask}, folder / "mask.safetensors")
    denoiser = {"base": str(base), "fill": "<eos>", "region": REGION, "near_suffix": NEAR, "threshold": 0.3}
    (folder / "midfill.json").write_text(json.dumps({"denoiser": {**denoiser, **changes}, "training": {"step": 1}}))
    return folder


@pytest.fixture(scope="module", params=["qwen2", "llama", "qwen3"])
def folders(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    base = tmp_path_factory.mktemp(f"{request.param}-base")
    tiny.causal(base, request.param)
    return base, write_adapter(tmp_path_factory.mktemp(f"{request.param}-adapter"), base)


@pytest.fixture(scope="module")
def causal(load: Open, folders: tuple[Path, Path]) -> CausalDenoiser:
    made = load(folders[0], dtype="float32")
    assert isinstance(made, CausalDenoiser)
    return made


@pytest.fixture(scope="module")
def absorbing(load: Open, folders: tuple[Path, Path]) -> AbsorbingDenoiser:
    made = load(folders[1], dtype="float32")
    assert isinstance(made, AbsorbingDenoiser)
    return made


def converged(denoising: CausalDenoising) -> list[int]:
    while denoising.advance().reason is None:
        pass
    return denoising._rows[0].accepted


def free(denoiser: AbsorbingDenoiser, fill: Fill) -> AbsorbingDenoising:
    return AbsorbingDenoising(denoiser, fill, denoiser.builder.build(fill), Policy.FREE)


def test_what_is_loaded(absorbing: AbsorbingDenoiser, folders: tuple[Path, Path]) -> None:
    assert absorbing.model.family is Family.ABSORBING
    assert absorbing.model.name == folders[1].name
    assert absorbing.policy is Policy.VERIFIED
    folder = resolve(str(folders[1]))
    assert folder.base is not None and folder.base.path == folders[0].resolve()


def test_canvas_cells_are_as_in_training_and_checked_cells_as_the_base(folders: tuple[Path, Path]) -> None:
    """Our adapter on the last cells equals peft's on all of them; the cells before them are the base's, bit for bit."""
    base, folder = folders
    bare = transformers.AutoModelForCausalLM.from_pretrained(base)
    ours = transformers.AutoModelForCausalLM.from_pretrained(base)
    adapter = Adapter(ours, folder)
    theirs: Any = peft.PeftModel.from_pretrained(transformers.AutoModelForCausalLM.from_pretrained(base), folder)
    ids = torch.arange(20, 32).unsqueeze(0)
    with torch.inference_mode():
        plain = bare(ids).logits
        assert torch.equal(ours(ids).logits, plain)
        adapter.n_canvas = 12
        everywhere = ours(ids).logits
        assert torch.allclose(everywhere, theirs(ids).logits, atol=1e-4)
        assert not torch.allclose(everywhere, plain, atol=0.1)
        adapter.n_canvas = 5
        assert torch.equal(ours(ids).logits[:, :7], plain[:, :7])  # causal: what is behind can't be seen


def test_a_served_canvas_equals_a_trained_one(absorbing: AbsorbingDenoiser, folders: tuple[Path, Path]) -> None:
    """The pass of the engine over prompt, pending token, region and near suffix gives what the training gave."""
    fill = Fill("a", PREFIX, SUFFIX, max_tokens=16)
    denoising = absorbing.open(fill)
    while not denoising._prefill.done:
        denoising.advance()
    memory = denoising._memory = denoising._new_memory(40)
    with torch.inference_mode():
        _, served = denoising._pass(memory, [[denoising._last]], with_canvas=True)
    prompt = denoising.prompt
    denoising.close()
    trained = AdaptedModel(folders[0], 4, 0, torch.device("cpu"), torch.float32)
    for module_name, layer in trained.peft.named_modules():
        if hasattr(layer, "lora_A"):
            wrapped = absorbing.network.get_submodule(module_name.removeprefix("base_model.model."))
            with torch.no_grad():
                layer.lora_A["default"].weight.copy_(wrapped._down.T)
                layer.lora_B["default"].weight.copy_(wrapped._up.T)
    with torch.no_grad():
        trained.mask.copy_(absorbing.adapter.mask)
        example = Example(
            prompt=np.array(prompt.tokens, dtype=np.uint32),
            middle=np.array([], dtype=np.uint32),
            near=np.array(prompt.suffix[:NEAR], dtype=np.uint32),
            kind="line",
        )
        canvas = noised([], 0, REGION, 2, Noise.ALL, lambda tokens, _: tokens, np.random.default_rng(0))
        with trained.peft.disable_adapter():
            encoded, _ = trained.encode([example])
        hidden = trained.denoise([example], [[canvas]], encoded, NEAR, 1.0)
        logits = trained.head(hidden[0, 0, :REGION])
    assert served is not None
    assert torch.allclose(served[0], logits, atol=1e-3)


@pytest.mark.parametrize("cut", [0, 1, 5, 40, 60, len(PREFIX)])
def test_verified_equals_greedy(causal: CausalDenoiser, absorbing: AbsorbingDenoiser, cut: int) -> None:
    fill = Fill("a", PREFIX[:cut], SUFFIX, max_tokens=48)
    plain, checked = causal.open(fill), absorbing.open(fill)
    assert converged(checked) == converged(plain)
    assert [c.text for c in checked.candidates()] == [c.text for c in plain.candidates()]
    assert [c.score for c in checked.candidates()] == pytest.approx([c.score for c in plain.candidates()], abs=1e-4)
    plain.close()
    checked.close()


def test_verified_alternatives_equal_the_causal_ones(causal: CausalDenoiser, absorbing: AbsorbingDenoiser) -> None:
    fill = Fill("a", PREFIX, SUFFIX, max_tokens=24, n_alternatives=3)
    plain, checked = causal.open(fill), absorbing.open(fill)
    converged(plain)
    converged(checked)
    assert [row.accepted for row in checked._rows] == [row.accepted for row in plain._rows]
    plain.close()
    checked.close()


@pytest.mark.parametrize("cut", [0, 5, 60, len(PREFIX)])
@pytest.mark.parametrize("rows", [1, 3])
def test_free_ends_and_its_prefix_is_exact(absorbing: AbsorbingDenoiser, cut: int, rows: int) -> None:
    fill = Fill("a", PREFIX[:cut], SUFFIX, max_tokens=24, n_alternatives=rows)
    denoising = free(absorbing, fill)
    n = 0
    while denoising.advance().reason is None:
        n += 1
        assert n < 100
    for row in denoising._rows:
        assert row.done and 0 < len(row.accepted) <= 24
    memory, row = denoising._memory, denoising._rows[0]
    assert memory is not None
    store = KVStore(absorbing.shapes, torch.float32, torch.device("cpu"))
    tokens = [*denoising.prompt.tokens[:-1], denoising._last, *row.accepted]
    with torch.inference_mode():
        writer = PromptWriter(store, len(tokens))
        mask = writer.mask(0)
        assert mask is not None
        positions = torch.arange(len(tokens)).unsqueeze(0)
        absorbing.forward(torch.tensor([tokens]), positions, writer, mask[None, None])
    kept = memory.n_prompt + memory.starts[0]
    for layer in range(len(absorbing.shapes)):
        fresh, _ = store.raw(layer, 0, kept)
        ours = memory._buffers[layer][0][:1, :, :kept]
        assert torch.allclose(ours, fresh, atol=1e-4)
    for candidate in denoising.candidates():
        assert candidate.score <= 0
    denoising.close()


def test_free_continues_the_withdrawn_text(absorbing: AbsorbingDenoiser) -> None:
    """The last prefix token was withdrawn; whatever the canvas is sure of, the region begins with its bytes."""
    fill = Fill("a", PREFIX, SUFFIX, max_tokens=24)
    denoising = free(absorbing, fill)
    assert denoising.prompt.heal
    text = absorbing.vocabulary.decode(converged(denoising))
    assert text.startswith(denoising.prompt.heal)
    denoising.close()


def test_both_families_share_one_prompt(absorbing: AbsorbingDenoiser) -> None:
    first = absorbing.open(Fill("a", PREFIX, SUFFIX, max_tokens=8))
    converged(first)
    first.close()
    again = free(absorbing, Fill("a", PREFIX + "t", SUFFIX, max_tokens=8))
    converged(again)
    assert again.counts.n_reused_tokens > len(again.prompt.tokens) - 8
    again.close()


def test_frames_are_settled_up_to_what_is_accepted(absorbing: AbsorbingDenoiser) -> None:
    seen = []
    for cut in (5, 40, 60, len(PREFIX)):  # a random model may end any one of them at once
        denoising = free(absorbing, Fill("a", PREFIX[:cut], SUFFIX, max_tokens=24))
        reason = None
        while reason is None:
            progress = denoising.advance()
            reason = progress.reason
            if progress.frame:
                seen.append(progress.frame)
                settled = "".join(span.text for span in progress.frame if span.settled)
                assert "".join(span.text for span in progress.frame).startswith(settled)
        denoising.close()
    assert seen


def probability_of_the_text(denoiser: AbsorbingDenoiser, denoising: AbsorbingDenoising, tokens: list[int]) -> float:
    """What the base gives `tokens` by a pass of its own, where it must go on with the withdrawn text."""
    prompt, total = denoising.prompt, 0.0
    store = KVStore(denoiser.shapes, torch.float32, torch.device("cpu"))
    everything = [*prompt.tokens, *tokens]
    with torch.inference_mode():
        writer = PromptWriter(store, len(everything))
        mask = writer.mask(0)
        assert mask is not None
        positions = torch.arange(len(everything)).unsqueeze(0)
        logits = denoiser.logits(denoiser.forward(torch.tensor([everything]), positions, writer, mask[None, None]))[0]
        row = denoising.new_row()
        for i, token in enumerate(tokens):
            said = logits[len(prompt.tokens) - 1 + i]
            if rest := row.heal_behind(tokens[:i]):
                denoising._narrow(said, rest)
            if token not in denoiser.vocabulary.silent:
                total += float(said[token] - said.logsumexp(-1))
    return total


@pytest.mark.parametrize("cut", [5, 40, 60, len(PREFIX)])
def test_free_is_scored_by_the_base(absorbing: AbsorbingDenoiser, cut: int) -> None:
    """The gate and the ranking hear what the base thinks, of the text alone, whoever has written it."""
    denoising = free(absorbing, Fill("a", PREFIX[:cut], SUFFIX, max_tokens=24))
    tokens = converged(denoising)
    text = [token for token in tokens if token not in absorbing.vocabulary.silent]
    row = denoising._rows[0]
    if text:
        assert row.n_scored == len(text)
        assert row.log_probability == pytest.approx(probability_of_the_text(absorbing, denoising, tokens), abs=1e-2)
    else:
        assert row.n_scored == 1 and row.log_probability < 0
    denoising.close()


def test_a_revision_takes_any_line_ends_and_half_characters(absorbing: AbsorbingDenoiser) -> None:
    kept = absorbing.open_revision(Fill("a", "x = 1\r\n", "", max_tokens=64), "y = 2\r\nz = 3", 0.0)
    shown = absorbing.vocabulary.decode([t for t in kept._canvases[0].shown + kept._canvases[0].waiting if t >= 0])
    assert shown == kept.prompt.heal + b"y = 2\nz = 3"
    kept.close()
    half = absorbing.open_revision(Fill("a", "x = '\N{GRINNING FACE}", "'", max_tokens=8), "!", 0.0)
    converged(half)
    half.close()


def test_a_revision_without_doubt_changes_nothing(absorbing: AbsorbingDenoiser) -> None:
    old = "th open(path) as file:"
    kept = absorbing.open_revision(Fill("a", PREFIX, SUFFIX, max_tokens=64, max_lines=1), old, 0.0)
    converged(kept)
    assert kept.candidates()[0].text == old
    kept.close()
    remade = absorbing.open_revision(Fill("a", PREFIX, SUFFIX, max_tokens=64, max_lines=1), old, 1.0)
    converged(remade)
    assert [c.text for c in remade.candidates()] != [old]
    remade.close()


def test_a_canvas_moves_on() -> None:
    canvas = Canvas(4)
    assert canvas.shown == [MASK] * 4
    assert canvas.show([1, 2, 3, 4], [0.9, 0.2, 0.95, 0.1], 0.9) == 2
    assert canvas.shown == [1, MASK, 3, MASK]
    assert canvas.take_sure() == [1]
    assert canvas.shown == [MASK, 3, MASK, MASK]
    canvas.agree([7])
    assert canvas.shown == [3, MASK, MASK, MASK]
    canvas.agree([4, 5])  # it showed something else there
    assert canvas.shown == [MASK] * 4
    older = Canvas(3, [5, 6, 7, 8])
    older.judge([5, 9, 7], [0.9, 0.8, 0.5], [0.9, 0.01, 0.5], 0.1)
    assert older.shown == [5, MASK, 7]
    assert older.take_sure() == [5]
    assert older.shown == [MASK, 7, 8]
    older.settle_first(9)
    assert older.take_sure() == [9, 7]  # what has come into view has not been judged yet
    assert older.shown == [8, MASK, MASK]


@pytest.mark.parametrize("missing", ["adapter_model.safetensors", "mask.safetensors"])
def test_a_folder_without_a_file_is_told(load: Open, folders: tuple[Path, Path], tmp_path: Path, missing: str) -> None:
    shutil.copytree(folders[1], tmp_path / "adapter")
    (tmp_path / "adapter" / missing).unlink()
    with pytest.raises(DenoiserError, match=f"{missing} is missing"):
        load(tmp_path / "adapter", dtype="float32")


def test_an_adapter_of_another_model_is_told(load: Open, folders: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(folders[1], tmp_path / "adapter")
    weights = safetensors.torch.load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    first = next(iter(weights))
    safetensors.torch.save_file(
        {**weights, first: torch.zeros(4, 99)}, tmp_path / "adapter" / "adapter_model.safetensors"
    )
    with pytest.raises(DenoiserError, match="another shape; is this the adapter's base"):
        load(tmp_path / "adapter", dtype="float32")


def test_a_base_that_is_not_here_is_told(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    shutil.copytree(folders[1], tmp_path / "adapter")
    record = json.loads((tmp_path / "adapter" / "midfill.json").read_text())
    for base, told in (("/nowhere", "can't be used: no model '/nowhere'"), (str(folders[1]), "an adapter itself")):
        record["denoiser"]["base"] = base
        (tmp_path / "adapter" / "midfill.json").write_text(json.dumps(record))
        with pytest.raises(ModelNotFoundError, match=told):
            resolve(str(tmp_path / "adapter"))
    (tmp_path / "adapter" / "midfill.json").write_text("{}")
    with pytest.raises(ModelNotFoundError, match=r"does not name the adapter's base"):
        resolve(str(tmp_path / "adapter"))


def test_settings_that_are_none_are_told(load: Open, folders: tuple[Path, Path], tmp_path: Path) -> None:
    folder = tmp_path / "adapter"
    shutil.copytree(folders[1], folder)
    record = json.loads((folder / "midfill.json").read_text())
    for change, told in (({"colour": 1}, "`denoiser` can't be read"), ({"fill": "<nope>"}, "no token '<nope>'")):
        stated = {**record, "denoiser": {**record["denoiser"], **change}}
        (folder / "midfill.json").write_text(json.dumps(stated))
        with pytest.raises(DenoiserError, match=told):
            load(folder, dtype="float32")


def test_a_deadline_gives_whole_lines(absorbing: AbsorbingDenoiser) -> None:
    denoising = absorbing.open(attrs.evolve(Fill("a", PREFIX, SUFFIX, max_tokens=48), deadline_ms=1))
    while denoising.advance().reason is None:
        for candidate in denoising.candidates():
            assert candidate.text.endswith("\n") or denoising._rows[0].done
    denoising.close()
