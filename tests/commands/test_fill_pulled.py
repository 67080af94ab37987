"""The pulled model, end to end: the folder that a pull made, filled through the console script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.models.catalog import SMALL_NAME
from engine.models.installed import damage
from engine.models.resolve import Kind, resolve
from tests.commands.conftest import Run
from tests.conftest import PrivateFolders

pytestmark = pytest.mark.real
_SAMPLE = Path(__file__).parents[2] / "docs" / "shop.py.txt"


def test_the_pulled_folder_is_whole_and_has_the_tokens_of_a_hole() -> None:
    folder = resolve(SMALL_NAME)
    assert folder.kind is Kind.PULLED
    assert damage(folder.path, deep=True) == ""
    assert (folder.path / "model.safetensors").stat().st_size > 1_200_000_000
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    for token in ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|endoftext|>"):
        assert len(tokenizer.encode(token, add_special_tokens=False).ids) == 1


def test_the_holes_of_the_sample_are_filled_with_the_obvious(
    private_folders: PrivateFolders, midfill: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `make try` does. The texts are the obvious ones, so that a wrong prompt or cache is noticed here."""
    monkeypatch.setenv("MIDFILL_MODEL", "auto")
    path = tmp_path / "shop.py"
    path.write_bytes(_SAMPLE.read_bytes())
    texts = {}
    for line, n_lines in ((25, 2), (20, 1), (15, 1)):
        ended = midfill("fill", f"{path}:{line}", "--max-lines", n_lines, "--apply", "--json")
        assert (ended.returncode, ended.stderr) == (0, "")
        told = json.loads(ended.stdout)
        assert (told["model"], told["reason"], told["applied"]) == (SMALL_NAME, "converged", True)
        assert told["frames"] >= 1
        texts[line] = told["text"]
    assert texts[15] == "sum(item.price * item.quantity for item in items)"
    assert "key=lambda" in texts[20]
    assert "item.name == name" in texts[25]
    compile(path.read_text(), "shop.py", "exec")

    same = [json.loads(midfill("fill", f"{path}:5", "--max-tokens", 8, "--json").stdout) for _ in range(2)]
    assert same[0]["text"] == same[1]["text"]
    assert same[1]["reused_tokens"] > same[1]["prompt_tokens"] // 2
