"""Where a model file can come from. Owns: the interface of a source and the file source. Fetches; never trusts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

from attrs import frozen

from engine.models.catalog import KnownModel
from engine.models.progress import OnProgress, Progress


class SourceError(RuntimeError):
    """This source can't give the file; another one may. The message is a clause: `the hub does not answer`."""


@frozen
class Job:
    """One file to fetch."""

    known: KnownModel
    folder: Path
    """For whatever the source keeps between attempts."""
    target: Path
    """Where the whole file goes. The caller checks its SHA-256."""
    lock: int
    """Descriptor of the model's lock."""
    on_progress: OnProgress


class Source(Protocol):
    """One way to get the pinned file."""

    @property
    def title(self) -> str:
        """Who is asked, in words."""

    def fetch(self, job: Job) -> None:
        """Write the file to `job.target`, going on where an earlier attempt ended. Raises `SourceError`."""


@frozen
class FileSource:
    """A copy of the file on this machine, for machines without a line."""

    path: Path

    @property
    def title(self) -> str:
        """Who is asked, in words."""
        return f"the file {self.path}"

    def fetch(self, job: Job) -> None:
        """Copy it."""
        job.on_progress(Progress(f"copying {self.path.name}"))
        try:
            shutil.copyfile(self.path, job.target)
        except OSError as error:
            raise SourceError(f"can't read {self.path}: {error.strerror}") from None
