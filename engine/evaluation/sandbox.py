"""Runs a generated program where it can do little harm. Owns: the child process, its limits, its end.

The program runs in a bare interpreter (`-I -S`: no site packages, no environment), in a folder of its own, without
stdin, with hard limits on CPU time, memory, file size and processes, behind an audit hook (see `guard`); where the
system grants them also as user `nobody` and in network and process namespaces of its own. `isolation()` says which.
Must not know: cases, the engine.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import resources
from pathlib import Path
from typing import IO, Final

import psutil
from attrs import frozen

_NOBODY: Final = 65534
_REPORT_BYTES: Final = 4096
_MIB: Final = 1024 * 1024
_SWEEPS: Final = 50
"""Times to look for processes of the program that are still there."""


class End(enum.StrEnum):
    """How a program ended."""

    PASSED = "passed"
    """It ran to its last line."""
    FAILED = "failed"
    """It raised; `Outcome.cause` names the exception's class."""
    EARLY = "early"
    """It ended without a word before its last line: it left by itself, or a signal ended it."""
    TIMEOUT = "timeout"
    MEMORY = "memory"


@frozen
class Outcome:
    """The end of one program. Holds none of its text."""

    end: End
    cause: str = ""
    """Class of the exception."""

    @property
    def passed(self) -> bool:
        """Whether it ran to its last line."""
        return self.end is End.PASSED


@frozen
class ProgramLimits:
    """What one program may use."""

    cpu_s: int = 5
    wall_s: float = 10.0
    memory_mb: int = 512
    file_mb: int = 1
    processes: int = 1
    """Of its user; 1 is the program itself."""

    def as_rlimits(self) -> dict[str, int]:
        """Names of the `resource` module to values."""
        return {
            "RLIMIT_CPU": self.cpu_s,
            "RLIMIT_AS": self.memory_mb * _MIB,
            "RLIMIT_FSIZE": self.file_mb * _MIB,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_NOFILE": 32,
            "RLIMIT_CORE": 0,
        }


@frozen
class Isolation:
    """What this system grants beyond limits and audit hook."""

    prefix: tuple[str, ...] = ()
    """Command that enters namespaces of its own."""
    uid: int = 0
    """User to become; 0: stay who we are."""

    @property
    def told(self) -> str:
        """In words, for the report."""
        parts = ["own session, resource limits, audit hook against files outside, processes and sockets"]
        if self.prefix:
            parts.insert(0, "no network and own process tree (Linux namespaces)")
        if self.uid:
            parts.insert(0, "user `nobody`")
        return "; ".join(parts)


def run_program(source: str, limits: ProgramLimits | None = None) -> Outcome:
    """Run `source` as a main program and wait for its end. Everything that it started is gone afterwards."""
    return _run(source, limits or ProgramLimits(), isolation())


@functools.cache
def isolation() -> Isolation:
    """The strongest isolation that works here; tried once with a program that does nothing."""
    namespaces: list[tuple[str, ...]] = []
    if (unshare := shutil.which("unshare")) and sys.platform == "linux":
        plain = (unshare, "--net", "--ipc", "--pid", "--fork", "--kill-child")
        namespaces = [plain] if os.geteuid() == 0 else [(*plain, "--map-root-user")]
    uids = [_NOBODY, 0] if os.geteuid() == 0 else [0]
    for prefix in (*namespaces, ()):
        for uid in uids:
            tried = Isolation(prefix, uid)
            if _run("", ProgramLimits(), tried).passed:
                return tried
    return Isolation()


def _run(source: str, limits: ProgramLimits, how: Isolation) -> Outcome:
    nonce = secrets.token_hex(8)  # a program that leaves early, or prints a verdict, can't pass for one that ended
    order = {"source": source, "nonce": nonce, "limits": limits.as_rlimits(), "uid": how.uid}
    with tempfile.TemporaryDirectory(prefix="midfill-sandbox-", ignore_cleanup_errors=True) as folder:
        if how.uid:
            os.chown(folder, how.uid, how.uid)
        with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as command:
            command.write(json.dumps(order).encode())
            command.seek(0)
            begun = time.monotonic()
            in_time = _wait(_start(folder, how, command, report), limits.wall_s)
            # The hard CPU limit kills in silence, and kernels and `unshare` tell that end in different ways.
            in_time = in_time and time.monotonic() - begun < limits.cpu_s
            report.seek(0)
            told = _told(report.read(_REPORT_BYTES), nonce)
            return told or Outcome(End.EARLY if in_time else End.TIMEOUT)


def _start(folder: str, how: Isolation, command: IO[bytes], report: IO[bytes]) -> subprocess.Popen[bytes]:
    guard = resources.files("engine.evaluation").joinpath("guard.py").read_text(encoding="utf-8")
    return subprocess.Popen(
        [*how.prefix, _interpreter(), "-I", "-S", "-B", "-c", guard],  # -c: `nobody` may not read our files
        stdin=command,
        stdout=report,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": folder, "TMPDIR": folder},
        start_new_session=True,
    )


def _interpreter() -> str:
    """The interpreter outside any virtual environment: the one that another user may run."""
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    return str(Path(base).resolve())


def _wait(process: subprocess.Popen[bytes], wall_s: float) -> bool:
    """Whether it ended in time. Ends the whole session in any case."""
    try:
        process.wait(timeout=wall_s)
    except subprocess.TimeoutExpired:
        return False
    finally:
        _sweep(process)
    return True


def _sweep(process: subprocess.Popen[bytes]) -> None:
    """End the group at one stroke, then whoever left the group but not the session, until nobody is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for _ in range(_SWEEPS):
        members = _session(process.pid)
        if not members:
            return
        for member in members:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(member, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    members = []
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getsid(pid) == leader and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                members.append(pid)
    return members


def _told(report: bytes, nonce: str) -> Outcome | None:
    """What the guard wrote, if it did."""
    try:
        told = json.loads(report)
        if told["nonce"] == nonce:
            return Outcome(End(told["end"]), str(told["cause"])[:80])
    except (ValueError, TypeError, KeyError):
        pass
    return None
