"""Sections of a run on a GPU: each in a process, all within the budget, whatever they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gpu_runs.record import Record
from gpu_runs.sections import Clock, Section, run_all

SCRIPTS = Path(__file__).parents[2] / "scripts"
SCRIPT = f"""
import os, signal, sys, threading
sys.path.insert(0, {str(SCRIPTS)!r})
from pathlib import Path
from gpu_runs.record import Record
from gpu_runs.sections import Section, run_all, run_one

def fine(record, clock):
    record.put("fine", found=1)

def faulty(record, clock):
    record.add("faulty", "rows", {{"a": 1}})
    raise ValueError("no luck")

def fatal(record, clock):
    os.kill(os.getpid(), signal.SIGSEGV)

def deaf(record, clock):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    record.put("deaf", found=2)
    threading.Event().wait()

names = sys.argv[2].split(",")
sections = [Section(name, globals()[name], 1.0) for name in names]
record = Record(Path(sys.argv[1]))
if "--section" in sys.argv:
    name = sys.argv[sys.argv.index("--section") + 1]
    sys.exit(run_one(next(s for s in sections if s.name == name), float(sys.argv[-1]), record))
sys.exit(run_all(sections, [sys.executable, *sys.argv[:3]], float(sys.argv[3]), record))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def run(script: Path, names: str, budget: float) -> dict[str, Any]:
    out = script.parent / "found.json"
    subprocess.run([sys.executable, str(script), str(out), names, str(budget)], timeout=60, capture_output=True)
    return Record(out).read()


def test_what_was_found_stays_whatever_happens_to_others(script: Path) -> None:
    found = run(script, "faulty,fatal,fine", 30)
    assert found["faulty"]["rows"] == [{"a": 1}]
    assert found["faulty"]["status"] == "failed (1)"
    assert found["faulty"]["error"] == "ValueError: no luck"
    assert found["fatal"]["status"] == f"failed ({-signal.SIGSEGV})"
    assert found["fine"]["found"] == 1
    assert found["fine"]["status"] == "done"


def test_a_section_that_hangs_is_ended(script: Path) -> None:
    found = run(script, "deaf", 7)
    assert found["deaf"]["found"] == 2
    assert found["deaf"]["status"] == "ended: its time was over"


def test_a_run_that_is_told_to_end_leaves_what_it_has(script: Path) -> None:
    out = script.parent / "found.json"
    fifo = script.parent / "fifo"
    os.mkfifo(fifo)
    waiting = SCRIPT.replace(
        'record.put("deaf", found=2)', f'record.put("deaf", found=2); open({str(fifo)!r}, "w").close()'
    )
    script.write_text(waiting)
    process = subprocess.Popen([sys.executable, str(script), str(out), "fine,deaf", "60"])
    fifo.read_text()  # until the section is at work
    process.terminate()
    assert process.wait(timeout=30) == 0
    found = Record(out).read()
    assert found["fine"]["status"] == "done"
    assert found["deaf"]["found"] == 2
    assert found["run"]["status"] == "stopped from outside"


def test_without_time_nothing_begins(tmp_path: Path) -> None:
    def run_it(record: Record, clock: Clock) -> None:
        raise AssertionError

    record = Record(tmp_path / "found.json")
    assert not run_all([Section("late", run_it, 1.0)], [sys.executable, "-c", "1/0"], 0.5, record)
    assert record.read()["late"]["status"] == "skipped: no time was left"
