"""`scripts/gpu_check` runs to its end without a GPU, and its counts are right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
from gpu_runs import models
from gpu_runs.floor import bytes_touched

from engine.denoisers.vocabulary import Vocabulary

SCRIPT = Path(__file__).parents[2] / "scripts" / "gpu_check"


def test_it_runs_to_its_end(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--tiny", "--device", "cpu", "--budget", "300", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=330)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "gpu_check.json").read_text())
    assert [one["status"] for one in found.values()] == ["done"] * 3
    assert {row["model"]: row["ok"] for row in found["parity"]["rows"]} == {
        "bundled": True,
        "experts and windows, random": True,
        "causal, random": True,
        "adapter, random, verified": True,
        "adapter, random, free": True,
        "adapter, verified: the text is the base's": True,
    }
    large = found["diffusiongemma"]
    assert {name for name, ms in large["experts"]["step_ms"].items() if ms > 0} >= {"eager", "grouped_mm"}
    assert len(large["prefill"]) == 2
    assert all(row["touched_gb"] >= 0 and 1 <= row["distinct_experts"] <= 8 for row in large["steps"])
    text = (tmp_path / "gpu_check.txt").read_text()
    assert "of_floor" in text and "decide_ms" in text
    assert not list(tmp_path.glob("*.new"))


def test_a_model_made_in_place_is_the_library_s_own() -> None:
    made = models.gemma(models.TINY, torch.device("cpu"), torch.float32)
    own = transformers.DiffusionGemmaForBlockDiffusion(made.config)
    buffers, expected = dict(made.named_buffers()), dict(own.named_buffers())
    assert buffers.keys() == expected.keys()
    for name, buffer in buffers.items():
        torch.testing.assert_close(buffer, expected[name], msg=name)
    weights = dict(made.named_parameters())
    for name, weight in own.named_parameters():
        if not name.endswith("q_norm.weight") and weight.numel() > 1000:
            assert abs(weights[name].std(correction=0) - weight.std(correction=0)) < 0.005, name
    assert made.lm_head.weight is made.model.decoder.embed_tokens.weight
    assert (
        made.model.encoder.language_model.layers[0].mlp.up_proj.weight
        is made.model.decoder.layers[0].mlp.up_proj.weight
    )


def test_the_real_model_has_its_published_size() -> None:
    with torch.device("meta"):
        network = models.gemma(models.REAL, torch.device("meta"), torch.bfloat16)
    assert sum(weight.numel() for weight in network.parameters()) == pytest.approx(25.2e9, rel=0.005)
    kinds = [layer.self_attn.layer_type for layer in network.model.decoder.layers]
    assert kinds.count("full_attention") == 5
    touched = bytes_touched(network, [128] * 30, 0)
    every = sum(weight.numel() * weight.element_size() for weight in network.parameters())
    assert sum(touched.values()) == pytest.approx(every, rel=0.001)
    assert sum(bytes_touched(network, [8] * 30, 0).values()) < 0.2 * every


def test_the_made_up_vocabulary_is_all_text(tmp_path: Path) -> None:
    models.save_tokenizer(tmp_path, 2000)
    vocabulary = Vocabulary(tmp_path, 2000)
    assert len(vocabulary.banned) == 7
    assert vocabulary.decode([1999]) == b" w1736"
