"""From the `model` setting to a checkpoint folder. Owns: what `auto` means. Must not know: torch, downloads."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Final

import attrs
from attrs import frozen

from engine.models.catalog import BUNDLED, BUNDLED_DIR, CATALOG, SMALL_NAME, KnownModel
from engine.models.installed import RECORD, damage, folder_of, read_record

ADAPTER: Final = "adapter_config.json"
"""The file that makes a folder an adapter."""


class Kind(enum.StrEnum):
    """How a model came to be here."""

    BUNDLED = "bundled"
    PULLED = "pulled"
    PATH = "path"
    """A checkpoint folder of the user's own."""


@frozen
class ModelFolder:
    """A model that can be loaded."""

    name: str
    path: Path
    kind: Kind
    note: str
    """One honest sentence on what it is good for."""
    licence: str
    """Empty when unknown."""
    source: str
    """In words: where it came from."""
    least_probability: float = 0.0
    """See `protocol.Model`."""
    base: ModelFolder | None = None
    """The model whose weights an adapter changes; None: this is no adapter."""


class ModelNotFoundError(LookupError):
    """There is no such model here. The message says why and what to do."""


def resolve(model: str) -> ModelFolder:
    """The folder that `model` means: `auto`, a name of the catalog, or a path. Raises `ModelNotFoundError`.

    `auto` is the pulled model when there is one, else the bundled one. A pulled model that is damaged is an error
    rather than a reason for the bundled one, whose text would look like a model gone mad.
    """
    if model == "auto":
        return _pulled(CATALOG[SMALL_NAME]) if folder_of(SMALL_NAME).is_dir() else _bundled()
    known = CATALOG.get(model)
    if known is None:
        return _from_path(model)
    if known.folder is None:
        return _pulled(known)
    if (known.folder / ADAPTER).is_file():
        adapter = _adapter(known.folder)
        return attrs.evolve(adapter, name=known.name, kind=Kind.BUNDLED, note=known.note, licence=known.licence)
    return _bundled()


def _bundled() -> ModelFolder:
    if not (BUNDLED_DIR / "config.json").is_file():
        raise ModelNotFoundError(f"the bundled model is missing from {BUNDLED_DIR}; install midfill again")
    known = BUNDLED
    source = "part of midfill"
    return ModelFolder(
        known.name, BUNDLED_DIR, Kind.BUNDLED, known.note, known.licence, source, known.least_probability
    )


def _pulled(known: KnownModel) -> ModelFolder:
    folder = folder_of(known.name)
    if not folder.is_dir():
        raise ModelNotFoundError(f"{known.name} is not here yet; run: midfill model pull {known.name}")
    if told := damage(folder):
        raise ModelNotFoundError(f"{folder} is damaged ({told}); run: midfill model pull {known.name}")
    record = read_record(folder)
    source = record.source if record is not None else ""
    return ModelFolder(known.name, folder, Kind.PULLED, known.note, known.licence, source, known.least_probability)


def _from_path(model: str) -> ModelFolder:
    path = Path(model).expanduser()
    if not path.exists():
        raise ModelNotFoundError(
            f"no model {model!r}: neither a known name ({', '.join(CATALOG)}) nor a folder; see: midfill model list"
        )
    if not path.is_dir():
        raise ModelNotFoundError(f"{path} is a file; give the checkpoint's folder, the one that holds config.json")
    if (path / ADAPTER).is_file():
        return _adapter(path.resolve())
    if not (path / "config.json").is_file():
        raise ModelNotFoundError(f"{path} holds no config.json; give a checkpoint folder as saved by transformers")
    if not any(path.glob("*.safetensors")):
        raise ModelNotFoundError(f"{path} holds no weights (*.safetensors); is the download complete?")
    path = path.resolve()
    note = "A checkpoint given by path; how good it is, is not known here."
    return ModelFolder(path.name, path, Kind.PATH, note, "", str(path))


def _adapter(path: Path) -> ModelFolder:
    """An adapter and its base, as `denoiser` in the folder's record names it: a known model, or a folder."""
    record = path / RECORD
    try:
        named = json.loads(record.read_text(encoding="utf-8"))["denoiser"]["base"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelNotFoundError(f"{record} does not name the adapter's base as denoiser.base ({error})") from None
    try:
        base = resolve(str(named))
    except ModelNotFoundError as error:
        raise ModelNotFoundError(f"{path} is an adapter on {named}, which can't be used: {error}") from None
    if base.base is not None:
        raise ModelNotFoundError(f"{path} is an adapter on {named}, which is an adapter itself; name a whole model")
    note = f"An adapter on {base.name} given by path; how good it is, is not known here."
    return ModelFolder(path.name, path, Kind.PATH, note, "", str(path), base.least_probability, base)
