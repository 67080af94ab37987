"""Replacing a file in one step. Owns: the temporary file, the rename, the check that nobody wrote meanwhile."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from engine.commands.errors import CommandError


class FileChangedError(CommandError):
    """Somebody wrote the file after it was read."""


def replace_file(path: Path, before: bytes, after: bytes) -> None:
    """Make `path`, which held `before`, hold `after`: all of it or nothing. Raises `CommandError`.

    `path` must have its symbolic links resolved already. Mode and, where allowed, owner are kept. The check against
    `before` is made right before the rename; what is left is the time between two system calls.
    """
    try:
        found = path.stat()
        if not os.access(path, os.W_OK):  # a rename would get past the file's own write protection
            raise CommandError(f"{path} is write-protected; nothing was changed")
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".midfill", dir=path.parent)
        temporary = Path(name)
    except OSError as error:
        raise CommandError(f"can't write beside {path}: {error.strerror}; nothing was changed") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            with contextlib.suppress(OSError):  # only root may give a file away
                os.fchown(descriptor, found.st_uid, found.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode))
            os.fsync(descriptor)
        if path.read_bytes() != before:
            raise FileChangedError(f"{path} was changed by somebody else meanwhile; nothing was written, run it again")
        temporary.replace(path)
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}; nothing was changed") from None
    finally:
        temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # some file systems have no fsync of folders
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
