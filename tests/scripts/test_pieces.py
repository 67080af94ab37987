"""Checkpoints as small pieces, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import safetensors.torch
import torch
from gpu_runs.pieces import PieceError, join, rebased, split


def checkpoint(folder: Path) -> Path:
    folder.mkdir()
    torch.manual_seed(0)
    weights = {f"layers.{i}.weight": torch.randn(64, 256).to(torch.bfloat16) for i in range(20)}
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    safetensors.torch.save_file({"mask_embedding": torch.ones(8)}, folder / "mask.safetensors")
    (folder / "config.json").write_text('{"name": "ein schönes Modell"}\n', encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_joined_pieces_are_the_folder(tmp_path: Path) -> None:
    first, second = checkpoint(tmp_path / "one"), checkpoint(tmp_path / "two")
    pieces = [*split(first, tmp_path / "pieces", 400_000), *split(second, tmp_path / "pieces")]
    assert [piece.name for piece in pieces[-2:]] == ["one.4of4.piece.safetensors", "two.1of1.piece.safetensors"]
    assert all(piece.stat().st_size <= 400_000 for piece in pieces[:-1])
    made = join(reversed(pieces), tmp_path / "joined")
    assert {folder.name: files(folder) for folder in made} == {"one": files(first), "two": files(second)}


def test_a_missing_piece_is_named(tmp_path: Path) -> None:
    pieces = split(checkpoint(tmp_path / "one"), tmp_path / "pieces", 400_000)
    with pytest.raises(PieceError, match="one: piece 2 of 4 is missing"):
        join([pieces[0], pieces[2], pieces[3]], tmp_path / "joined")


def test_a_tensor_larger_than_a_piece_is_named(tmp_path: Path) -> None:
    with pytest.raises(PieceError, match=r"layers\.0\.weight alone is larger"):
        split(checkpoint(tmp_path / "one"), tmp_path / "pieces", 220_000)


def test_an_adapter_can_be_given_its_base_here(tmp_path: Path) -> None:
    stated = {"denoiser": {"base": "/there/base", "region": 16}, "training": {"step": 3}}
    (tmp_path / "midfill.json").write_text(json.dumps(stated))
    rebased(tmp_path, "qwen2.5-coder-0.5b")
    found = json.loads((tmp_path / "midfill.json").read_text())
    assert found == {**stated, "denoiser": {"base": "qwen2.5-coder-0.5b", "region": 16}}
