"""A data folder small enough to be carried: parts of what was made for training at home. Owns: what is chosen.

Examples and texts are chosen by a seed, as many as there is room for; validation examples and cases come whole.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, Final

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from gpu_runs.data import Data

_SHARES: Final = {"adapt": 0.25, "tiny": 0.3, "tokens": 0.45}
"""Of the room, by what is packed."""
_STARTS: Final = "_starts"
_KEY: Final = "midfill"
_END: Final = "<eos>"


class PackError(ValueError):
    """A folder can't be packed. The message names the cause and the fix."""


def pack(
    folder: Path, adapt: Path, tiny: Path, tokens: Path, cases: Path | None, most: int, seed: int
) -> list[tuple[str, int]]:
    """Make `folder` of at most `most` bytes; its files and their sizes. Raises `PackError`."""
    data = Data(folder)
    valid = {adapt.with_name(f"{adapt.stem}-valid.safetensors"): data.adapt_valid}
    valid[tiny.with_name(f"{tiny.stem}-valid.safetensors")] = data.tiny_valid
    wanted = [adapt, tiny, tokens, *valid, *([cases] if cases else [])]
    if absent := [str(file) for file in wanted if not file.is_file()]:
        raise PackError(f"not there: {', '.join(absent)}; `midfill train corpus` makes examples and tokens")
    folder.mkdir(parents=True, exist_ok=True)
    for source, copy in valid.items():
        shutil.copyfile(source, copy)
    packed_cases = folder / "cases.jsonl.gz"
    packed_cases.unlink(missing_ok=True)
    if cases:
        shutil.copyfile(cases, packed_cases)
    room = most - sum(file.stat().st_size for file in (*valid.values(), packed_cases) if file.is_file())
    if room <= 0:
        raise PackError(f"validation examples and cases alone take more than {most} bytes")
    _examples(adapt, data.adapt, int(room * _SHARES["adapt"]), seed)
    _examples(tiny, data.tiny, int(room * _SHARES["tiny"]), seed)
    _tokens(tokens, data.tokens, int(room * _SHARES["tokens"]), seed)
    return [(file.name, file.stat().st_size) for file in sorted(folder.iterdir())]


def _examples(source: Path, out: Path, room: int, seed: int) -> None:
    """Some of the examples of a file, in their order."""
    tensors = safetensors.numpy.load_file(source)
    with safetensors.safe_open(source, framework="numpy") as file:
        told = json.loads((file.metadata() or {})[_KEY])
    n = len(tensors["kinds"])
    per_example = source.stat().st_size / max(1, n)
    kept = np.sort(np.random.default_rng(seed).permutation(n)[: int(room / per_example)])
    fields = [name.removesuffix(_STARTS) for name in tensors if name.endswith(_STARTS)]
    made: dict[str, NDArray[Any]] = {"kinds": tensors["kinds"][kept]}
    for field in fields:
        starts = tensors[field + _STARTS]
        parts = [tensors[field][starts[i] : starts[i + 1]] for i in kept]
        made[field] = np.concatenate([np.zeros(0, tensors[field].dtype), *parts])
        made[field + _STARTS] = np.cumsum([0, *map(len, parts)]).astype(starts.dtype)
    told["part"] = {"of": told["fingerprint"], "seed": seed}
    told["fingerprint"] = _hash(*(made[name].tobytes() for name in sorted(made)))
    safetensors.numpy.save_file(made, out, metadata={_KEY: json.dumps(told)})


def _tokens(source: Path, out: Path, room: int, seed: int) -> None:
    """Some of the texts of a corpus, each whole."""
    from engine.denoisers.vocabulary import Vocabulary
    from engine.models.catalog import BUNDLED_DIR
    from engine.training.token_shard import TokenShard

    shard = TokenShard.open(source)
    end = Vocabulary(BUNDLED_DIR, 2**16).id(_END)
    ends = np.flatnonzero(shard.tokens == end) + 1
    starts = np.concatenate(([0], ends[:-1]))
    order = np.random.default_rng(seed).permutation(len(ends))
    lengths = (ends - starts)[order]
    most = room // shard.tokens.dtype.itemsize
    chosen = order[np.cumsum(lengths) <= most]
    parts = [shard.tokens[starts[i] : ends[i]] for i in chosen]
    tokens = np.concatenate([np.zeros(0, shard.tokens.dtype), *parts])
    told = {"fingerprint": _hash(tokens.tobytes()), "tokenizer": shard.tokenizer}
    safetensors.numpy.save_file({"tokens": tokens}, out, metadata=told)


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
