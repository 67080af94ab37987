"""`midfill train`, from a made-up corpus to a model that the engine runs."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

import engine.commands
from engine.commands.train_view import TrainView
from engine.training.corpus import build_corpus
from engine.training.run_folder import RunFolder
from tests.commands.conftest import MIDFILL
from tests.conftest import PrivateFolders
from tests.denoisers import tiny

Midfill = Callable[..., tuple[int, str, str]]
N_STEPS = 12
TEXT = '''"""Shapes, number {n}."""

from __future__ import annotations


def area_{n}(width: int, height: int) -> int:
    """The area of a rectangle."""
    if width < {n}:
        raise ValueError("too narrow")
    return width * height + {n}


class Box{n}:
    def __init__(self, width: int, height: int) -> None:
        self.width = width
        self.height = height

    def area(self) -> int:
        total = area_{n}(self.width, self.height)
        return total + {n}

    def grown(self, by: int) -> "Box{n}":
        return Box{n}(self.width + by, self.height + by + {n})
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus and a tiny causal model, `base`; examples of both are made by the first test."""
    folder = tmp_path_factory.mktemp("made")
    wheels = folder / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "shapes-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("shapes-1.0.dist-info/METADATA", "Name: shapes\nVersion: 1.0\nLicense-Expression: MIT\n")
        for n in range(300):
            wheel.writestr(f"shapes/part_{n}.py", words(n))
    build_corpus(folder / "corpus", wheels, packages={"shapes": "1.0"}, held_out={})
    (folder / "base").mkdir()
    tiny.causal(folder / "base")
    return folder


def words(n: int) -> str:
    """A text that is not nearly another's copy."""
    names = ["width", "height", "area", "total", "grown", "Box", "by"]
    text = TEXT.format(n=n)
    for index, name in enumerate(names):
        text = text.replace(name, f"{name}_{chr(97 + (n * 7 + index) % 26)}{n}")
    return text


@pytest.fixture
def midfill(capsys: pytest.CaptureFixture[str]) -> Iterator[Midfill]:
    """Runs a command in this process: its code, stdout, stderr. These models' steps are too short to share."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = engine.commands.run([str(one) for one in arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    yield run
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(made: Path) -> Path:
    """Its examples."""
    base, out = made / "base", made
    assert (
        engine.commands.run(
            [
                "train",
                "corpus",
                str(out),
                "--for",
                str(base),
                "--for",
                "bundled",
                "--n",
                "60",
                "--n-valid",
                "6",
                "--set",
                "prompt_tokens=64",
            ]
        )
        == 0
    )
    return made / "examples"


def adapting(out: Path) -> list[object]:
    """From the folder of what is made."""
    small = ["rank=2", "region=8", "near_suffix=4", "canvases=2", "opening=4", "valid=4"]
    settings = [word for one in [*small, "validate_every=5", "schedule.warm_up=2"] for word in ("--set", one)]
    files = ["--from", "./base", "--data", "examples/base.safetensors"]
    return [
        "train",
        "adapt",
        *files,
        "--out",
        out,
        "--steps",
        N_STEPS,
        "--device",
        "cpu",
        "--dtype",
        "float32",
        *settings,
    ]


def curve(folder: Path) -> list[tuple[int, float]]:
    return [(entry["step"], entry["loss"]) for entry in RunFolder(folder).entries() if "loss" in entry]


def test_a_corpus_becomes_examples_again_and_the_same(made: Path, data: Path, midfill: Midfill) -> None:
    names = {"base.safetensors", "base-valid.safetensors", "bundled.safetensors", "bundled-valid.safetensors"}
    assert {file.name for file in data.iterdir()} == names
    assert (made / "tokens" / "bundled.safetensors").exists()
    before = (data / "base.safetensors").read_bytes()
    code, out, err = midfill(
        "train", "corpus", made, "--for", made / "base", "--n", 60, "--n-valid", 6, "--set", "prompt_tokens=64"
    )
    assert (code, out) == (0, "")
    assert "is kept" in err and "60 examples are in" in err
    assert (data / "base.safetensors").read_bytes() == before


def test_an_adaptation_stopped_resumed_exported_and_served(
    made: Path,
    data: Path,
    midfill: Midfill,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    private_folders: PrivateFolders,
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    monkeypatch.chdir(made)
    code, out, err = midfill(*adapting(whole))
    assert (code, f"{N_STEPS} steps are done" in out) == (0, True), err
    assert f"adapt whole: step 1 of {N_STEPS}: loss" in err and "validation" in err

    with monkeypatch.context() as patch:
        stop_at(patch, 7)
        code, out, err = midfill(*adapting(parts))
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == (
        f"midfill: stopped by SIGINT after 7 steps; the checkpoint is in {parts}: --resume goes on with it"
    )
    assert midfill(*adapting(parts))[0] == 2, "not without --resume"
    monkeypatch.chdir(tmp_path)
    assert midfill("train", "adapt", "--out", parts, "--resume")[0] == 0
    monkeypatch.chdir(made)
    assert curve(parts) == curve(whole)
    assert len(curve(whole)) == N_STEPS
    assert (parts / "curves.png").read_bytes().startswith(b"\x89PNG")

    code, out, _ = midfill("train", "eval", parts, "--json")
    told = json.loads(out)
    assert (code, told["step"]) == (0, N_STEPS)
    assert 0 <= told["valid"]["right_all"] <= 1
    code, out, _ = midfill("train", "eval", parts)
    assert f"{N_STEPS} steps" in out and "right all" in out and "midfill eval held-out" in out

    out_folder = tmp_path / "adapter"
    assert midfill("train", "export", parts, out_folder)[0] == 0
    names = {"adapter_config.json", "adapter_model.safetensors", "mask.safetensors", "midfill.json"}
    assert {file.name for file in out_folder.iterdir()} == names
    stated = json.loads((out_folder / "midfill.json").read_text())
    assert stated["denoiser"]["base"] == str(made / "base")
    assert stated["training"]["step"] == N_STEPS
    code, _, err = midfill("train", "export", parts, out_folder)
    assert (code, "is there already" in err) == (2, True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["adapter", "parts", "whole"]

    for policy in ("verified", "free"):
        monkeypatch.setenv("MIDFILL_POLICY", policy)
        assert filled(tmp_path, out_folder)["model"] == "adapter"
    code, _, err = midfill(*adapting(tmp_path / "twice"), "--from", out_folder)
    assert (code, "is an adapter itself" in err) == (2, True)


def filled(folder: Path, model: Path) -> Any:
    """A fill through an engine of its own, as told on stdout."""
    (folder / "a.py").write_text("def area(width, height):\n    return \n")
    fill = [MIDFILL, "fill", str(folder / "a.py:2"), "--model", str(model), "--max-tokens", "8", "--json"]
    ended = subprocess.run(fill, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    subprocess.run([MIDFILL, "engine", "--stop"], capture_output=True, timeout=60, check=True)
    return json.loads(ended.stdout)


def stop_at(patch: pytest.MonkeyPatch, n_steps: int) -> None:
    """Send Ctrl-C in step `n_steps`."""
    tell = TrainView.tell

    def and_stop(view: TrainView, entry: Mapping[str, Any]) -> None:
        tell(view, entry)
        if entry["step"] == n_steps - 1:
            os.kill(os.getpid(), signal.SIGINT)

    patch.setattr(TrainView, "tell", and_stop)


def test_the_tiny_model_from_nothing_to_a_fill_through_the_engine(
    made: Path, data: Path, midfill: Midfill, tmp_path: Path, private_folders: PrivateFolders
) -> None:
    small = ["size=micro", "shape.rows=2", "shape.tokens=96", "shape.cells=96", "valid=2", "schedule.warm_up=2"]
    settings = [word for one in small for word in ("--set", one)]
    files = ["--data", data / "bundled.safetensors", "--tokens", made / "tokens" / "bundled.safetensors"]
    run, model = tmp_path / "run", tmp_path / "model"
    code, _, err = midfill("train", "run", *files, "--out", run, "--steps", N_STEPS, "--dtype", "float32", *settings)
    assert code == 0, err
    assert "loss_next" in (run / "journal.jsonl").read_text()
    code, _, err = midfill("train", "run", "--out", run, "--resume", "--steps", 2 * N_STEPS)
    assert (code, f"steps: {N_STEPS} there, {2 * N_STEPS} now" in err) == (1, True)
    assert midfill("train", "export", run, model)[0] == 0

    assert filled(tmp_path, model)["model"] == "model"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["adapt", "--steps", "3", "--data", "nothing"], "--from is missing"),
        (["adapt", "--steps", "3", "--from", "BASE"], "--data is missing"),
        (["adapt", "--steps", "3", "--from", "BASE", "--data", "nothing"], "there are no examples at"),
        (["adapt", "--steps", "3", "--from", "BASE", "--data", "garbage"], "garbage can't be read as examples"),
        (["adapt", "--steps", "3", "--from", "nowhere", "--data", "DATA"], "neither a known name"),
        (["adapt", "--steps", "3", "--from", "bundled", "--data", "DATA"], "whose tokenizer is another"),
        (["adapt", "--steps", "3", "--from", "BASE", "--data", "OTHER"], "whose tokenizer is another"),
        (["adapt", "--from", "BASE", "--data", "DATA"], "say when to end"),
        (["adapt", "--steps", "3", "--from", "BASE", "--data", "DATA", "--device", "abacus"], "--device abacus"),
        (["adapt", "--steps", "3", "--from", "BASE", "--data", "DATA", "--dtype", "int4"], "--dtype must be"),
        (["adapt", "--steps", "3", "--from", "BASE", "--data", "DATA", "--set", "rnak=1"], "did you mean rank"),
        (["run", "--steps", "3", "--data", "OTHER"], "--tokens is missing"),
        (["run", "--steps", "3", "--data", "OTHER", "--tokens", "nothing"], "nothing"),
        (["run", "--steps", "3", "--data", "DATA", "--tokens", "TOKENS"], "whose tokenizer is another"),
    ],
)
def test_bad_input_is_one_line(
    made: Path,
    data: Path,
    midfill: Midfill,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("garbage").write_bytes(b"\x10" * 100)
    Path("garbage-valid").write_bytes(b"")
    places = {
        "BASE": made / "base",
        "DATA": data / "base.safetensors",
        "OTHER": data / "bundled.safetensors",
        "TOKENS": made / "tokens" / "bundled.safetensors",
    }
    code, out, err = midfill("train", *(places.get(word, word) for word in arguments), "--out", "run")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and told in err
    assert not Path("run").exists()


@pytest.mark.parametrize("command", ["eval", "export"])
def test_where_no_run_is(midfill: Midfill, tmp_path: Path, command: str) -> None:
    out = [tmp_path / "out"] if command == "export" else []
    code, _, err = midfill("train", command, tmp_path, *out)
    assert (code, err) == (1, f"midfill: {tmp_path} holds no run: there is no run.json\n")


def test_without_the_extra_one_line_says_what_to_install(midfill: Midfill, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("engine.training.adapt", "engine.training.adapted_model"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setitem(sys.modules, "peft", None)
    code, out, err = midfill("train", "adapt", "--out", "x", "--steps", 3, "--from", "y")
    assert (code, out) == (1, "")
    assert err == "midfill: training needs more packages (peft is missing); run: pip install 'midfill[train]'\n"


def test_the_help_names_the_commands(midfill: Midfill) -> None:
    code, out, _ = midfill("train")
    assert code == 0
    for command in ("corpus", "adapt", "run", "eval", "export"):
        assert f"  {command} " in out


def test_the_corpus_is_built_again_to_the_same_hash(
    made: Path, midfill: Midfill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = functools.partial(build_corpus, packages={"shapes": "1.0"}, held_out={})
    monkeypatch.setattr("engine.commands.train_corpus.build_corpus", only)
    command = [
        "train",
        "corpus",
        tmp_path / "out",
        "--wheels",
        made / "wheels",
        "--for",
        made / "base",
        "--n",
        5,
        "--n-valid",
        2,
    ]
    code, out, err = midfill(*command)
    assert (code, out) == (0, "")
    assert "reading packages" in err and "HumanEval was not at hand" in err
    code, _, err = midfill(*command, "--rebuild")
    assert (code, "the same hash as before" in err) == (0, True)

    texts = tmp_path / "out" / "corpus" / "texts.jsonl.gz"
    texts.write_bytes(texts.read_bytes()[:-20])
    code, _, err = midfill(*command)
    assert code == 1
    assert "texts.jsonl.gz" in err.splitlines()[-1] and "build the corpus again" in err.splitlines()[-1]
