"""`scripts/gpu_train` runs to its end without a GPU, and what comes back can be served."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_runs.pack import pack

from engine.config import EngineConfig
from engine.denoisers.loading import load_denoiser
from engine.models.resolve import resolve
from engine.protocol import Family
from tests.scripts.conftest import ROOT, Made

SCRIPT = ROOT / "scripts" / "gpu_train"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=330)


@pytest.fixture(scope="module")
def data(made: Made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    cases = folder / "given.jsonl.gz"
    kinds = {"rol": "x)\n", "line": "a = b", "block": "a = b\nc = d"}
    with gzip.open(cases, "wt") as file:
        for kind, middle in kinds.items():
            row = {"kind": kind, "pkg": "p", "path": "p/a.py", "offset": 1, "middle": middle}
            file.write(json.dumps({**row, "prefix": "def f(x):\n    return g(", "suffix": "\n\nf(1)\n"}) + "\n")
    pack(folder / "packed", made.adapt, made.tiny, made.tokens, cases, 400_000, 0)
    return folder / "packed"


def test_it_runs_to_its_end(made: Made, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("--tiny", "--device", "cpu", "--budget", "300", "--data", data, "--base", made.base, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((out / "gpu_train.json").read_text())
    assert {name: one["status"] for name, one in found.items()} == dict.fromkeys(
        ("environment", "adapt", "tiny-micro"), "done"
    )
    for name in ("adapt", "tiny-micro"):
        one = found[name]
        assert one["steps"] >= 1 and one["curve"] and one["valid"]
        assert all(0 < size < 16_000_000 for size in one["pieces"].values())
    assert found["tiny-micro"]["held_out"]["as served"]["rest of line"]["n"] == 1
    assert {way: kinds["line"]["n"] for way, kinds in found["adapt"]["held_out"].items()} == {"free": 1, "verified": 1}
    assert "tokens_per_s" in (out / "gpu_train.txt").read_text()
    joined = run("join", out, "--out", tmp_path / "joined")
    assert joined.returncode == 0, joined.stderr
    assert (tmp_path / "joined" / "adapt" / "adapter_model.safetensors").exists()
    served = load_denoiser(resolve(str(tmp_path / "joined" / "tiny-micro")), EngineConfig(), lambda *_: None)
    assert served.model.family is Family.UNIFORM


def test_without_data_it_says_how_to_make_it(tmp_path: Path) -> None:
    done = run("--data", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "adapt.safetensors" in done.stdout and "gpu_train pack" in done.stdout
