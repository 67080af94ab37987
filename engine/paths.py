"""Where Midfill keeps its files. Owns: folder names. Must not know: what the files mean."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Final

import platformdirs

_MAX_SOCKET_PATH: Final = 100
"""A unix socket's path may have 107 bytes on Linux, 103 on macOS; leave room for the file's name."""


class UnsafeFolderError(RuntimeError):
    """The runtime folder can't be trusted with a socket."""


def runtime_dir() -> Path:
    """The 0700 folder of the socket and the lock; made when missing.

    `MIDFILL_RUNTIME_DIR` overrides it. Raises `UnsafeFolderError` when it can't be made, belongs to somebody else, is
    open to others, or has a path too long for a socket.
    """
    override = _override("MIDFILL_RUNTIME_DIR")
    path = override or _usual_runtime_dir()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        if override:
            raise UnsafeFolderError(f"can't make the runtime folder {path}; set MIDFILL_RUNTIME_DIR") from None
        path = Path(f"/tmp/midfill-{os.getuid()}")  # no XDG runtime folder: containers, plain ssh
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UnsafeFolderError(f"can't make {path} ({error.strerror}); set MIDFILL_RUNTIME_DIR") from None
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise UnsafeFolderError(f"{path} is not a folder of this user; set MIDFILL_RUNTIME_DIR to one that is")
    if stat.S_IMODE(info.st_mode) != 0o700:
        if override:  # it may be shared on purpose: closing it is not ours to do
            raise UnsafeFolderError(f"{path} is open to others: chmod 700 it, or set MIDFILL_RUNTIME_DIR to another")
        path.chmod(0o700)
    if len(os.fsencode(path)) > _MAX_SOCKET_PATH - len("/engine.sock"):
        raise UnsafeFolderError(f"{path} is too long a path for a socket; set MIDFILL_RUNTIME_DIR to a shorter one")
    return path


def _usual_runtime_dir() -> Path:
    if sys.platform == "darwin" or "XDG_RUNTIME_DIR" in os.environ:
        return Path(platformdirs.user_runtime_dir("midfill"))
    own = Path(f"/run/user/{os.getuid()}")
    if os.access(own, os.W_OK) and own.stat().st_uid == os.getuid():
        return own / "midfill"
    # platformdirs would warn on stderr and take a folder below one in /tmp that anybody may have made before us
    return Path(f"/tmp/midfill-{os.getuid()}")


def default_endpoint() -> str:
    """The engine's usual address."""
    return f"ipc://{runtime_dir() / 'engine.sock'}"


def config_file() -> Path:
    """The user's configuration. `MIDFILL_CONFIG` overrides it."""
    return _override("MIDFILL_CONFIG") or Path(platformdirs.user_config_dir("midfill")) / "config.toml"


def models_dir() -> Path:
    """Pulled models, one folder each. `MIDFILL_MODELS_DIR` overrides it."""
    return _override("MIDFILL_MODELS_DIR") or Path(platformdirs.user_cache_dir("midfill")) / "models"


def log_dir() -> Path:
    """The engine's and the server's logs; made when missing. `MIDFILL_LOG_DIR` overrides it."""
    path = _override("MIDFILL_LOG_DIR") or Path(platformdirs.user_log_dir("midfill"))
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def absolute_overrides() -> dict[str, str]:
    """The overrides of this environment as absolute paths, for processes that start in another folder."""
    return {name: str(path) for name in _OVERRIDES if (path := _override(name)) is not None}


_OVERRIDES: Final = ("MIDFILL_RUNTIME_DIR", "MIDFILL_CONFIG", "MIDFILL_MODELS_DIR", "MIDFILL_LOG_DIR")


def _override(name: str) -> Path | None:
    told = os.environ.get(name)
    return Path(told).expanduser().absolute() if told else None
