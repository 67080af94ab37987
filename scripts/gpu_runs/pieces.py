"""Checkpoint folders as few small files, and back. Owns: the pieces' format.

A piece is a safetensors file of some of the tensors. Which file and folder each belongs to, is in its name (`FOLDER/
FILE/TENSOR`); the folder's other files, all text, are the first piece's metadata. So there is no index that could be
lost, and pieces of several folders can lie side by side.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import safetensors
import safetensors.torch
from torch import Tensor

MOST: Final = 15_500_000
"""Bytes of a piece, its header included; what comes back from a rented machine is often cut at 16 MB."""
_HEADER: Final = 200_000
"""Room for the names of the tensors."""
_SUFFIX: Final = ".piece.safetensors"


class PieceError(ValueError):
    """Pieces can't be made or joined. The message names the cause."""


def split(folder: Path, out: Path, most: int = MOST) -> list[Path]:
    """Write `folder` as pieces `NAME.1of3.piece.safetensors` into `out`."""
    name = folder.name
    tensors: dict[str, Tensor] = {}
    texts: dict[str, str] = {}
    for file in sorted(folder.iterdir()):
        if file.suffix == ".safetensors":
            for key, tensor in safetensors.torch.load_file(file).items():
                tensors[f"{name}/{file.name}/{key}"] = tensor
            with safetensors.safe_open(file, framework="pt") as opened:
                texts[f"{file.name} metadata"] = json.dumps(opened.metadata())
        elif file.is_file():
            texts[file.name] = file.read_text(encoding="utf-8")
    room = most - _HEADER
    batches: list[dict[str, Tensor]] = [{}]
    left = room - sum(len(text.encode()) for text in texts.values())
    for key, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        if size > room:
            raise PieceError(f"{key} alone is larger than a piece may be ({size} bytes)")
        if size > left:
            batches.append({})
            left = room
        batches[-1][key] = tensor
        left -= size
    out.mkdir(parents=True, exist_ok=True)
    written = []
    for number, batch in enumerate(batches, 1):
        path = out / f"{name}.{number}of{len(batches)}{_SUFFIX}"
        metadata = {"folder": name, "number": str(number), "of": str(len(batches))}
        safetensors.torch.save_file(batch, path, metadata=metadata | (texts if number == 1 else {}))
        written.append(path)
    return written


def joined(folder: Path, out: Path) -> list[Path]:
    """`join` of all pieces in a folder."""
    pieces = sorted(folder.glob(f"*{_SUFFIX}"))
    if not pieces:
        raise PieceError(f"{folder} holds no pieces (*{_SUFFIX})")
    return join(pieces, out)


def join(pieces: Iterable[Path], out: Path) -> list[Path]:
    """Put folders together again below `out`; all their pieces must be there."""
    found: dict[str, dict[int, dict[str, Tensor]]] = {}
    told: dict[str, dict[str, str]] = {}
    for path in pieces:
        with safetensors.safe_open(path, framework="pt") as opened:
            metadata = opened.metadata() or {}
        name, number = metadata["folder"], int(metadata["number"])
        if told.setdefault(name, {}).setdefault("of", metadata["of"]) != metadata["of"]:
            raise PieceError(f"{path} belongs to another run's {name}")
        told[name] |= metadata
        found.setdefault(name, {})[number] = safetensors.torch.load_file(path)
    made = []
    for name, parts in found.items():
        wanted = int(told[name]["of"])
        if absent := set(range(1, wanted + 1)) - parts.keys():
            raise PieceError(f"{name}: piece {min(absent)} of {wanted} is missing")
        made.append(_write(out / name, parts.values(), told[name]))
    return made


def rebased(folder: Path, base: str) -> None:
    """An adapter's folder names another base; other folders stay as they are."""
    record = folder / "midfill.json"
    stated = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    if "denoiser" in stated:
        stated["denoiser"]["base"] = base
        record.write_text(json.dumps(stated, indent=2) + "\n", encoding="utf-8")


def _write(folder: Path, parts: Iterable[dict[str, Tensor]], told: dict[str, str]) -> Path:
    files: dict[str, dict[str, Tensor]] = {}
    for part in parts:
        for key, tensor in part.items():
            _, file, name = key.split("/", 2)
            files.setdefault(file, {})[name] = tensor
    folder.mkdir(parents=True)
    for file, tensors in files.items():
        safetensors.torch.save_file(tensors, folder / file, metadata=json.loads(told[f"{file} metadata"]))
    for file, text in told.items():
        if file not in ("folder", "number", "of") and not file.endswith(" metadata"):
            (folder / file).write_text(text, encoding="utf-8")
    return folder
