"""One engine per address. Owns: the lock beside a socket. The lock lives as long as the process, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from pathlib import Path


class AlreadyRunningError(RuntimeError):
    """Another engine holds the address."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"an engine is running already (pid {pid})")
        self.pid = pid


class AddressError(ValueError):
    """The address can't be used."""


class Instance:
    """The right to bind `endpoint`; a stale socket is cleaned up."""

    def __init__(self, endpoint: str) -> None:
        """Raises `AlreadyRunningError`, or `AddressError` for anything but an `ipc://` path."""
        scheme, _, place = endpoint.partition("://")
        if scheme != "ipc" or not place.startswith("/"):
            raise AddressError(
                f"{endpoint}: the engine listens on ipc:///absolute/path only; nothing beyond this machine may reach it"
            )
        self._socket = Path(place)
        self._file = self._socket.with_suffix(".lock")
        self._socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._socket.exists() and not stat.S_ISSOCK(self._socket.lstat().st_mode):
            raise AddressError(f"{self._socket} is a file of somebody's, not a socket; choose another address")
        self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            told = os.read(self._descriptor, 20).strip()
            os.close(self._descriptor)
            raise AlreadyRunningError(int(told) if told.isdigit() else 0) from None
        if (told := os.read(self._descriptor, 20).strip()) and not told.isdigit():
            os.close(self._descriptor)
            raise AddressError(f"{self._file} is a file of somebody's, not an engine's lock; choose another address")
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, str(os.getpid()).encode())
        self._socket.unlink(missing_ok=True)

    def release(self) -> None:
        """Give the address back."""
        with contextlib.suppress(OSError):
            self._socket.unlink(missing_ok=True)
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
