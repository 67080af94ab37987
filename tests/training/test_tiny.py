"""The tiny model from nothing: what it is trained on, that it learns, that runs are reproducible and can be served."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
import torch

from engine.config import EngineConfig
from engine.denoisers.denoiser import Denoiser
from engine.denoisers.gemma import GemmaForward
from engine.denoisers.kv_store import KVStore
from engine.denoisers.loading import load_denoiser
from engine.denoisers.memory import PromptWriter, Rows
from engine.denoisers.sampler import SamplerSettings
from engine.denoisers.vocabulary import Vocabulary
from engine.models.catalog import BUNDLED_DIR
from engine.models.resolve import resolve
from engine.protocol import Fill
from engine.training.documents import Documents
from engine.training.loop import LoopSettings, export, train
from engine.training.rollout import Grid
from engine.training.run_folder import RunError, RunFolder
from engine.training.schedule import Schedule
from engine.training.sheets import Format, Sheet, SheetMaker, SheetShape
from engine.training.tiny import Stage, TinySettings, TinyTraining
from engine.training.tiny_batch import Batch
from engine.training.tiny_model import SIZES, build, trained
from engine.training.tiny_pass import TinyPass
from engine.training.token_shard import ShardError, TokenShard, tokenizer_hash, write_tokens

CPU = torch.device("cpu")
SIZE = 4096
SHAPE = SheetShape(rows=2, tokens=96, cells=96)
TEXTS = [f"def area_{i}(width, height):\n    return width * height + {i}\n\n\nSIZE = {i}\n" for i in range(60)]


@attrs.frozen(eq=False)
class MadeHole:
    prompt: Any
    middle: Any
    near: Any


class Holes(list[MadeHole]):
    fingerprint = "made"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return Vocabulary(BUNDLED_DIR, SIZE)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> TokenShard:
    path = tmp_path_factory.mktemp("tokens") / "tokens.safetensors"
    write_tokens(TEXTS, BUNDLED_DIR, SIZE, path)
    return TokenShard.open(path)


@pytest.fixture(scope="module")
def holes(vocabulary: Vocabulary) -> Holes:
    def ints(tokens: list[int]) -> Any:
        return np.array(tokens, dtype=np.uint32)

    found = Holes()
    for text in TEXTS:
        before, middle, after = text.partition(" * height")
        prefix, near = vocabulary.encode(before), vocabulary.encode(after)[:16]
        found.append(MadeHole(ints([1, 4, 3, *prefix, 5]), ints(vocabulary.encode(middle)), ints(near)))
    return found


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """So small that threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def objective(shard: TokenShard, holes: Holes, **changes: Any) -> TinyTraining:
    settings = TinySettings(**{"size": "micro", "steps": 8, "own_share": 0.25, "shape": SHAPE, "valid": 4, **changes})
    return TinyTraining(BUNDLED_DIR, shard, holes, Holes(holes[:4]), settings, CPU, half=False)


def made_format(vocabulary: Vocabulary) -> Format:
    text = np.setdiff1d(np.arange(SIZE), vocabulary.banned.numpy())
    return Format((16, 32), 16, 6, 3, text)


def made_sheet(shard: TokenShard, holes: Holes, vocabulary: Vocabulary, seed: int = 0) -> Sheet:
    rng = np.random.default_rng(seed)
    documents = Documents(shard, holes, 0.5)
    shape = SheetShape(rows=6, tokens=160, cells=192)
    return SheetMaker(shape, made_format(vocabulary)).make([documents.row(160, rng) for _ in range(6)], rng)


# Tokens


def test_a_shard_holds_every_text_and_its_end(shard: TokenShard, vocabulary: Vocabulary, tmp_path: Path) -> None:
    ends = np.flatnonzero(shard.tokens == vocabulary.id("<eos>"))
    assert len(ends) == len(TEXTS)
    assert vocabulary.decode(shard.tokens[: ends[0]].tolist()).decode() == TEXTS[0]
    assert shard.tokens.dtype == np.uint16
    assert shard.tokenizer == tokenizer_hash(BUNDLED_DIR)
    again = tmp_path / "again.safetensors"
    write_tokens(TEXTS, BUNDLED_DIR, SIZE, again)
    assert TokenShard.open(again).fingerprint == shard.fingerprint


def test_odd_texts_are_kept_byte_for_byte(vocabulary: Vocabulary, tmp_path: Path) -> None:
    odd = ["", "\tx = '😀'\r\n", "no line end", "<|fim_pad|> is text here"]
    write_tokens(odd, BUNDLED_DIR, SIZE, tmp_path / "odd.safetensors")
    tokens = TokenShard.open(tmp_path / "odd.safetensors").tokens.tolist()
    assert vocabulary.decode(tokens).decode() == "".join(odd)
    assert 6 not in tokens


def test_a_file_that_is_no_shard_is_told(tmp_path: Path) -> None:
    with pytest.raises(ShardError, match="there are no tokens"):
        TokenShard.open(tmp_path / "none")
    (tmp_path / "bad").write_bytes(b"not safetensors at all")
    with pytest.raises(ShardError, match="can't be read as tokens"):
        TokenShard.open(tmp_path / "bad")


# Sheets


def test_contexts_are_documents_and_canvases_continue_them(
    shard: TokenShard, holes: Holes, vocabulary: Vocabulary
) -> None:
    """What a canvas should show is the document's text behind what it sees, then fill; what is clamped follows."""
    n_holes = n_tiles = n_padded = 0
    for seed in range(6):
        sheet = made_sheet(shard, holes, vocabulary, seed)
        for row in range(len(sheet.cells)):
            for number in set(sheet.canvases[row].tolist()) - {-1}:
                cells = sheet.canvases[row] == number
                start = int(sheet.starts[row][cells][0])
                assert sheet.cell_places[row][cells].tolist() == list(range(start, start + int(cells.sum())))
                document = sheet.tokens[row][sheet.documents[row] == sheet.cell_documents[row][cells][0]].tolist()
                targets, free = sheet.targets[row][cells], sheet.free[row][cells]
                text = [t for t in targets[free].tolist() if t != 6]
                near = targets[~free].tolist()
                assert int(free.sum()) in (16, 32)
                assert free.tolist() == sorted(free.tolist(), reverse=True)  # the clamped cells lie behind
                assert set(targets[free].tolist()[len(text) :]) <= {6}
                assert sheet.cells[row][cells][~free].tolist() == near
                if sheet.holes[row][cells].all():
                    n_holes += 1
                    assert start == len(document)
                    assert vocabulary.decode(text) == b" * height"
                    assert vocabulary.decode(near).startswith(b" + ")
                else:
                    n_tiles += 1
                    n_padded += len(text) < int(free.sum())
                    assert document[start : start + len(text) + len(near)] == text + near
    assert n_holes > 10 and n_tiles > 50 and n_padded > 10


def test_noise_is_text_and_weights_say_what_is_noised(shard: TokenShard, holes: Holes, vocabulary: Vocabulary) -> None:
    sheet = made_sheet(shard, holes, vocabulary)
    wrong = sheet.free & (sheet.cells != sheet.targets)
    assert wrong.any()
    assert not set(sheet.cells[wrong].tolist()) & set(vocabulary.banned.tolist())
    assert (sheet.weights[~sheet.free] == 0).all()
    fill = sheet.free & (sheet.targets == 6)
    assert sheet.weights[fill].min() < 0.11 < 0.9 < sheet.weights[wrong].max()
    kept = np.unique(sheet.weights[sheet.free & ~wrong])
    assert kept == pytest.approx([0.03, 0.3])


def test_cells_see_what_they_may(shard: TokenShard, holes: Holes, vocabulary: Vocabulary) -> None:
    sheet = made_sheet(shard, holes, vocabulary)
    batch = Batch(sheet, CPU)
    n = sheet.tokens.shape[1]
    for row in range(2):
        seen = (batch.context_bias[row, 0] == 0).numpy()
        for at in (0, 40, 100):
            same = sheet.documents[row] == sheet.documents[row, at]
            assert (seen[at] == (same & (np.arange(n) <= at))).all() or sheet.documents[row, at] == -1
        cells = (batch.cell_bias[row, 0] == 0).numpy()
        for at in np.flatnonzero(sheet.canvases[row] >= 0)[::7]:
            same = sheet.documents[row] == sheet.cell_documents[row, at]
            assert (cells[at, :n] == (same & (sheet.places[row] < sheet.starts[row, at]))).all()
            assert (cells[at, n:] == (sheet.canvases[row] == sheet.canvases[row, at])).all()


def test_a_grid_has_every_free_cell_once(shard: TokenShard, holes: Holes, vocabulary: Vocabulary) -> None:
    sheet = made_sheet(shard, holes, vocabulary)
    grid = Grid.of(sheet)
    assert sorted(grid.index[grid.free].tolist()) == np.flatnonzero(sheet.free).tolist()
    of = sheet.canvases.reshape(-1)[grid.index]
    assert all(len(set(line[free].tolist())) == 1 for line, free in zip(of, grid.free, strict=True))


# The network


@pytest.mark.parametrize("size", ["micro", "bundled"])
def test_the_pass_is_the_served_one(size: str, vocabulary: Vocabulary) -> None:
    """Contexts, and a canvas behind one: equal to `GemmaForward`, which runs the exported model."""
    network = build(SIZES[size], vocabulary, 0)
    passes = TinyPass(network, trained(network), 128)
    served = GemmaForward(network)
    ids = torch.randint(9, SIZE, (1, 40), generator=torch.Generator().manual_seed(0))
    places = torch.arange(40).unsqueeze(0)
    store = KVStore(served.shapes, torch.float32, CPU)
    prompt, canvas = ids[:, :24], ids[:, 24:]
    writer = PromptWriter(store, 24)
    with torch.no_grad():
        masks = {shape.window: writer.mask(shape.window) for shape in served.shapes}
        wanted = served.encode(prompt, places[:, :24], writer, masks)
        bias = torch.where(torch.ones(24, 24, dtype=torch.bool).tril(), 0.0, -1e4)[None, None]
        hidden, kept = passes.encode(prompt, places[:, :24], bias)
        assert torch.allclose(hidden, wanted, atol=1e-4)
        store.commit(prompt[0].tolist())
        rows = Rows(store, 1, 16)
        rows.expect(16)
        soft = torch.randn(1, 16, SIZES[size].hidden, generator=torch.Generator().manual_seed(1))
        unmasked: dict[int, torch.Tensor | None] = {shape.window: None for shape in served.shapes}
        wanted = served.decode(canvas, soft, places[:, 24:], rows, unmasked)
        hidden = passes.decode(canvas, soft, places[:, 24:], torch.zeros(1, 1, 16, 40), kept)
        assert torch.allclose(hidden, wanted, atol=1e-4)
        assert torch.allclose(passes.logits(hidden), served.logits(wanted), atol=1e-3)
        shares = torch.softmax(served.logits(wanted), -1)
        assert torch.allclose(passes.soft(shares), served.soft_embeddings(shares), atol=1e-4)


def test_every_weight_is_trained(shard: TokenShard, holes: Holes) -> None:
    tiny = objective(shard, holes, conditioned=1.0)
    for piece in tiny.pieces(4):
        piece.loss.backward()  # type: ignore[no-untyped-call]
    assert tiny._s.stage(4) is Stage.CANVAS
    idle = [name for name, weight in tiny.weights.items() if weight.grad is None or not weight.grad.any()]
    assert not idle


# Runs


def curve(folder: RunFolder) -> list[tuple[int, float, float]]:
    return [(e["step"], e["loss"], e["norm"]) for e in folder.entries() if "loss" in e]


def run(path: Path, tiny: TinyTraining, steps: int, stop_after: int = 10_000) -> RunFolder:
    told: list[Mapping[str, Any]] = []
    folder = RunFolder(path)
    settings = LoopSettings(Schedule(warm_up=2, steps=steps), validate_every=0)
    train(tiny, folder, settings, told.append, stop=lambda: sum("loss" in e for e in told) >= stop_after)
    return folder


def test_stages_are_shares_of_the_steps() -> None:
    stages = [TinySettings(steps=10, next_share=0.5, own_share=0.2).stage(step) for step in range(10)]
    assert stages == [Stage.NEXT] * 5 + [Stage.CANVAS] * 3 + [Stage.OWN] * 2
    assert TinySettings(steps=3, next_share=0, own_share=0).stage(0) is Stage.CANVAS


def test_runs_are_reproducible_and_resumed_runs_equal_whole_ones(
    shard: TokenShard, holes: Holes, tmp_path: Path
) -> None:
    """Through all stages, own results among them."""
    whole = run(tmp_path / "whole", objective(shard, holes), 8)
    for _ in range(3):
        parts = run(tmp_path / "parts", objective(shard, holes), 8, stop_after=3)
    assert curve(parts) == curve(whole)
    assert len(curve(whole)) == 8
    a, b = whole.load(CPU), parts.load(CPU)
    assert a is not None and b is not None
    assert all(torch.equal(a["average"][name], b["average"][name]) for name in a["average"])
    assert [("loss_own" in e) for e in whole.entries()] == [False] * 6 + [True] * 2
    other = run(tmp_path / "other", objective(shard, holes, seed=1), 1)
    assert curve(other)[0] != curve(whole)[0]


def test_it_learns_and_what_it_learnt_is_served(shard: TokenShard, holes: Holes, tmp_path: Path) -> None:
    """A text so simple that a micro model knows it by heart: its export fills the hole through the engine."""
    steps = 160
    shape = SheetShape(rows=4, tokens=96, cells=128)
    rates = {"adam_lr": 6e-3, "muon_lr": 0.04}
    tiny = objective(shard, holes, steps=steps, next_share=0.2, own_share=0.1, shape=shape, **rates)
    folder = run(tmp_path / "run", tiny, steps)
    last = folder.entries()[-10:]
    assert np.mean([e["right_holes"] for e in last if "right_holes" in e]) > 0.9
    assert np.mean([e["loss_next"] for e in last]) < 1.0
    out = tmp_path / "out"
    export(tiny, folder, out)
    record = json.loads((out / "midfill.json").read_text())
    assert record["training"]["step"] == steps and record["name"] == "tiny"
    assert (out / "generation_config.json").read_text() == (BUNDLED_DIR / "generation_config.json").read_text()
    denoiser = load_denoiser(resolve(str(out)), EngineConfig(), lambda stage, share: None)
    assert denoiser.model.dtype == "float32" and str(denoiser.model.family) == "uniform"
    before, _, after = TEXTS[7].partition(" * height")
    assert filled(denoiser, Fill("x", before, after, max_lines=1, max_tokens=16)) == " * height"


def filled(denoiser: Denoiser, fill: Fill) -> str:
    denoising = denoiser.open(fill)
    while denoising.advance().reason is None:
        pass
    texts = [candidate.text for candidate in denoising.candidates()]
    denoising.close()
    return texts[0] if texts else ""


def test_validation_runs_the_sampler(shard: TokenShard, holes: Holes) -> None:
    tiny = objective(shard, holes)
    tiny._judge._aims = attrs.evolve(tiny._judge._aims, sampler=SamplerSettings(max_steps=3))
    figures = tiny.validate()
    assert 4 <= figures["exact"][1] <= 2 * 4  # two canvases of each hole, as far as there is room
    assert figures["steps"][0] / figures["steps"][1] == 3
    assert figures == tiny.validate()


def test_too_little_to_train_on_is_told(shard: TokenShard, holes: Holes) -> None:
    with pytest.raises(RunError, match="too few to train on"):
        objective(shard, Holes())
