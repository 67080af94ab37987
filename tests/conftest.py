"""Fixtures for all tests."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from attrs import frozen

import engine.client

_GRACE_S = 5.0

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: our children would inherit it, and no Ctrl-C would reach them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@frozen
class PrivateFolders:
    """Folders that belong to one test."""

    runtime: Path
    """The engine's socket and lock."""
    logs: Path
    config: Path
    """The user's config.toml; not there until the test writes it."""

    @property
    def endpoint(self) -> str:
        """Where an engine that is started without `--endpoint` listens."""
        return f"ipc://{self.runtime / 'engine.sock'}"

    def processes(self) -> list[psutil.Process]:
        """All processes that a test started with these folders: engines and servers, children of children too."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.pid != os.getpid() and process.environ().get("MIDFILL_RUNTIME_DIR") == str(self.runtime):
                    found.append(process)
            except psutil.Error:  # of somebody else, or gone meanwhile
                continue
        return found

    def engines(self) -> list[psutil.Process]:
        """Those among `processes` that are engines."""
        found = []
        for process in self.processes():
            try:
                if "engine" in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def stop_processes(self) -> None:
        """End what the test has left running, gently first."""
        left = self.processes()
        for process in left:
            _try(process.terminate)
        _, left = psutil.wait_procs(left, timeout=_GRACE_S)
        for process in left:
            _try(process.kill)
        psutil.wait_procs(left, timeout=_GRACE_S)
        for started in engine.client._started:
            started.poll()  # else it warns, when the test run ends, of a process that it takes for running


@pytest.fixture
def private_folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateFolders]:
    """Fresh folders in the environment, so that a test never meets the user's engine, logs or settings.

    Processes that the test starts inherit them, and are ended afterwards. `MIDFILL_MODELS_DIR` stays as it is: tests
    marked `real` want the pulled models. The model is the bundled one unless the test sets `MIDFILL_MODEL`.
    """
    root = Path(tempfile.mkdtemp(prefix="mf", dir="/tmp"))  # a socket's path must be short
    folders = PrivateFolders(root / "run", root / "logs", root / "config.toml")
    folders.runtime.mkdir(mode=0o700)
    for name in [name for name in os.environ if name.startswith("MIDFILL_") and name != "MIDFILL_MODELS_DIR"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MIDFILL_RUNTIME_DIR", str(folders.runtime))
    monkeypatch.setenv("MIDFILL_LOG_DIR", str(folders.logs))
    monkeypatch.setenv("MIDFILL_CONFIG", str(folders.config))
    monkeypatch.setenv("MIDFILL_CACHE_DIR", str(root / "cache"))
    monkeypatch.setenv("MIDFILL_MODEL", "bundled")
    yield folders
    folders.stop_processes()
    shutil.rmtree(root, ignore_errors=True)


def _try(signal: object) -> None:
    try:
        signal()  # type: ignore[operator]
    except psutil.Error:
        return
