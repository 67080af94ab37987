"""The sandbox: every program ends, in time, and harms nothing outside its folder."""

from __future__ import annotations

import os
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from engine.evaluation.sandbox import End, Isolation, Outcome, ProgramLimits, isolation, run_program

LIMITS = ProgramLimits(cpu_s=1, wall_s=2.5, memory_mb=128)


@pytest.fixture(params=["strongest", "weakest"])
def box(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends: what this system grants, and what every system has."""
    if request.param == "weakest":
        monkeypatch.setattr("engine.evaluation.sandbox.isolation", Isolation)


def run(source: str) -> Outcome:
    return run_program(textwrap.dedent(source), LIMITS)


@pytest.mark.usefixtures("box")
@pytest.mark.parametrize(
    ("source", "end", "cause"),
    [
        ("", End.PASSED, ""),
        ("import math, re, collections, heapq; assert math.sqrt(4) == 2", End.PASSED, ""),
        ("print('x' * 10_000_000)", End.PASSED, ""),
        ("if __name__ == '__main__': assert False", End.FAILED, "AssertionError"),
        ("def f(:", End.FAILED, "SyntaxError"),
        ("def f(): return f()\nf()", End.FAILED, "RecursionError"),
        ("input()", End.FAILED, "EOFError"),
        ("raise SystemExit(0)", End.EARLY, "SystemExit"),
        ("import os; os._exit(0)", End.EARLY, ""),
        ('print(\'{"nonce": "x", "end": "passed", "cause": ""}\'); import os; os._exit(0)', End.EARLY, ""),
        ("while True: pass", End.TIMEOUT, ""),
        ("try:\n  while True: pass\nexcept BaseException: pass", End.TIMEOUT, ""),
        ("bytearray(10**10)", End.MEMORY, ""),
        ("x = []\nwhile True: x.append(' ' * 10**6)", End.MEMORY, ""),
    ],
)
def test_every_program_ends_as_it_should(source: str, end: End, cause: str) -> None:
    outcome = run(source)
    assert (outcome.end, outcome.cause) == (end, cause)
    assert outcome.passed == (end is End.PASSED)


@pytest.mark.usefixtures("box")
def test_waiting_for_ever_is_cut_off_by_the_wall_clock() -> None:
    begun = time.monotonic()
    assert run("import time\nwhile True: time.sleep(1)").end is End.TIMEOUT
    assert time.monotonic() - begun < LIMITS.wall_s + 2


@pytest.mark.usefixtures("box")
@pytest.mark.parametrize(
    "source",
    [
        "open({path!r}, 'w').write('x')",
        "open({path!r}, 'a')",
        "import os; os.open({path!r}, os.O_WRONLY | os.O_CREAT)",
        "import os; os.remove({kept!r})",
        "import os; os.rename({kept!r}, {path!r})",
        "import os; os.symlink({kept!r}, 'link'); open('link', 'w')",
        "open({kept!r}).read()",
    ],
)
def test_files_outside_are_out_of_reach(source: str, tmp_path: Path) -> None:
    kept, path = tmp_path / "kept", tmp_path / "made"
    kept.write_text("kept")
    outcome = run(source.format(kept=str(kept), path=str(path)))
    assert (outcome.end, outcome.cause) == (End.FAILED, "PermissionError")
    assert kept.read_text() == "kept"
    assert not path.exists()


@pytest.mark.usefixtures("box")
def test_its_own_folder_is_writable_up_to_a_size_and_gone_afterwards(tmp_path: Path) -> None:
    assert run("open('a', 'w').write('x'); assert open('a').read() == 'x'").passed
    assert run(f"open('a', 'wb').write(b'x' * {2 * 1024 * 1024})").cause == "OSError"
    assert not (Path.cwd() / "a").exists()


@pytest.mark.usefixtures("box")
@pytest.mark.parametrize(
    "source",
    [
        "import os; os.fork()",
        "import os; os.kill(os.getppid(), 9)",
        "import os; os.system('true')",
        "import os; os.execv('/bin/true', ['true'])",
    ],
)
def test_processes_and_signals_are_blocked(source: str) -> None:
    assert run(source).cause == "PermissionError"


def test_the_network_is_blocked_by_the_hook_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.evaluation.sandbox.isolation", Isolation)
    assert run("import socket; socket.socket()").cause == "PermissionError"
    assert run("import subprocess; subprocess.run(['true'])").cause == "PermissionError"
    assert run("import ctypes; ctypes.CDLL(None)").cause == "PermissionError"


@pytest.mark.parametrize("namespaces", [True, False])
def test_a_bomb_of_processes_that_slips_past_the_hook_is_swept_up(
    namespaces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`_posixsubprocess` raises no audit event, and puts each child into a group of its own.

    The process limit stops it, but for root; the end of its session, or namespace, takes all of them.
    """
    prefix = isolation().prefix if namespaces else ()
    monkeypatch.setattr("engine.evaluation.sandbox.isolation", lambda: Isolation(prefix))
    mark = f"7{os.getpid()}"
    source = f"""
        import os, _posixsubprocess as p
        r, w = os.pipe()
        a = [b"/bin/sleep", b"{mark}"]
        try:
            while True:
                p.fork_exec(a, a[:1], True, (), None, None, -1, -1, -1, -1, -1, -1, r, w, False, False, 0,
                            None, None, None, -1, None, False)
        except (OSError, MemoryError):
            pass
    """
    outcome = run_program(textwrap.dedent(source), ProgramLimits(cpu_s=1, wall_s=1.0))
    assert outcome.cause != "TypeError", "this Python's fork_exec takes other arguments: the bomb did not go off"
    left = [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())]
    psutil.wait_procs(left, timeout=5)  # the kernel may still be taking them away
    assert not [p for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    assert run("import os; assert 'SECRET_TOKEN' not in os.environ, os.environ").passed


def test_isolation_is_told_in_words() -> None:
    assert "audit hook" in isolation().told
    assert "nobody" in Isolation(uid=1).told
    assert "network" in Isolation(prefix=("unshare",)).told
