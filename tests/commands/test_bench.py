"""`midfill bench`, for real: the bundled model through the engine and through stock generate()."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from engine.bench.series import Ratio, Series
from tests.conftest import PrivateFolders


def test_scenarios_ratios_and_the_same_text(private_folders: PrivateFolders) -> None:
    command = [str(Path(sys.executable).with_name("midfill")), "bench", "--model", "bundled", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=True)
    report = json.loads(done.stdout)
    assert report["model"] == "bundled"
    for name in (
        "first frame, cold prefix",
        "result, warm prefix",
        "one denoising step",
        "stock generate(), from nothing",
    ):
        series = report["scenarios"][name]
        assert series["n"] == 3
        assert 0 < series["median"] <= series["p95"]
    assert report["same_text"] == "3 of 3"
    assert report["typing"]["keys"] == 200 and report["typing"]["wrong"] == 0
    assert report["scenarios"]["typing, the server busy with a key"]["n"] == 200
    assert set(report["ratios"]["overhead %"]) == {"median", "goal", "at_most", "met"}
    assert private_folders.engines() == [], "its engine has left"


def test_an_unknown_model_is_bad_input(private_folders: PrivateFolders) -> None:
    command = [str(Path(sys.executable).with_name("midfill")), "bench", "--model", "/nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_summing_up() -> None:
    series = Series.of([5.0, 1.0, 3.0], "ms")
    assert (series.median, series.p95, series.n) == (3.0, 5.0, 3)
    assert Ratio.of([10.0, 20.0, 30.0], [10.0, 10.0, 10.0], goal=2.0).met
    assert Ratio(11.0, 10.0, at_most=True).met is False
    assert Ratio(1.0, 0.0).met is None
