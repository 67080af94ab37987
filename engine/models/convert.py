"""From a GGUF file to an ordinary checkpoint folder. Owns: the conversion, which runs in a child process of its own.

Done once after the download: reading and unpacking GGUF takes most of a minute and 3 GB of memory, a checkpoint in
bfloat16 loads in a second or two. torch is imported in the child only.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from engine.models.child import ChildFailedError, run_child
from engine.models.installed import Record, StoredFile, sha256_of, write_record
from engine.models.progress import OnProgress, Progress

_NEEDED: Final = ("config.json", "model.safetensors", "tokenizer.json")
_SETTINGS: Final = {
    "HF_HUB_OFFLINE": "1",  # all that is needed lies here
    "TRANSFORMERS_VERBOSITY": "error",
    "TQDM_DISABLE": "1",
}


class ConversionError(RuntimeError):
    """The checkpoint could not be made."""


def convert(gguf: Path, folder: Path, record: Record, *, lock: int, on_progress: OnProgress) -> None:
    """Make the checkpoint `folder` from the file `gguf`, its record last, all of it on disk when this returns."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    stage = "converting to an ordinary checkpoint (once, about a minute)"

    def on_tick() -> int:
        on_progress(Progress(stage))
        return 0

    command = [sys.executable, "-I", "-m", "engine.models.convert", str(gguf), str(folder)]
    try:
        run_child(command, folder, lock=lock, environment=_SETTINGS, on_tick=on_tick)
    except ChildFailedError as error:
        told = "it was killed, most likely for want of memory (3 GB are needed)" if error.code == -9 else str(error)
        raise ConversionError(f"the conversion failed: {told}") from None
    if missing := [name for name in _NEEDED if not (folder / name).is_file()]:
        raise ConversionError(f"the conversion left no {', '.join(missing)}")
    seal(folder, record, on_progress)


def seal(folder: Path, record: Record, on_progress: OnProgress) -> None:
    """Write the record of the files in `folder`, and see everything on disk."""
    on_progress(Progress("writing the record"))
    for path in sorted(folder.iterdir()):
        record.files[path.name] = StoredFile(path.stat().st_size, sha256_of(path))
    write_record(folder, record)
    for path in (*folder.iterdir(), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _child(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    # The output matrix is a tensor of its own in the file, quantised otherwise than the embedding: it stays untied.
    model = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent),
        gguf_file=gguf.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name).save_pretrained(folder)


if __name__ == "__main__":
    _child(Path(sys.argv[1]), Path(sys.argv[2]))
