"""The script that runs all rows of the evaluation: what it asks `midfill eval` for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "eval_rows"


def ask(folder: Path, *arguments: str, **settings: str) -> list[str]:
    """One line for each call of the command, without what all calls share."""
    told = folder / "told"
    midfill = folder / "midfill"
    midfill.write_text(f'#!/bin/sh\necho "$@" >> {told}\n')
    midfill.chmod(0o755)
    environment = {**os.environ, "MIDFILL": str(midfill), **settings}
    subprocess.run(["bash", SCRIPT, *arguments], env=environment, check=True, capture_output=True)
    return told.read_text().splitlines()


def test_each_row_is_a_call(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    cases.mkdir()
    (cases / "HumanEval-RandomSpanInfillingLight.jsonl.gz").touch()
    lines = ask(tmp_path, "out", str(cases), "wheels", "a", "b", N="20", MINUTES="30")
    common = f"--path {cases} --path wheels --n 20 --minutes 30 --out out --json"
    assert all(line.startswith("eval held-out") and line.endswith(common) for line in lines)
    short = [line.removeprefix("eval ").removesuffix(f" {common}") for line in lines]
    sets = "held-out held-out-suffix humaneval-random-span"
    assert short[:2] == [f"{sets} --model qwen2.5-coder-0.5b", f"{sets} --model qwen2.5-coder-0.5b --no-copies"]
    assert short[2:6] == [
        f"{sets} --model a --policy {policy}{copies}"
        for policy in ("verified", "free")
        for copies in ("", " --no-copies")
    ]
    assert short[6] == "held-out-repair --model a --doubt 0.01"
    assert short[-1] == f"{sets} --model bundled --no-copies"
    assert len(short) == 2 + 2 * 7 + 2


def test_rows_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "no humaneval").mkdir()
    (line,) = ask(tmp_path, "out", str(tmp_path / "no humaneval"), "wheels", ROWS="base")
    assert "eval held-out held-out-suffix --model" in line and "--n 300 --minutes 0" in line
