"""From a run's settings and files to what is trained. Owns: what each objective needs, and what is wrong with it.

Imports torch: it is imported by the commands that train.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import torch
from transformers.utils import logging as hf_logging

from engine.commands.errors import BadInputError, CommandError
from engine.commands.train_order import Order
from engine.denoisers.vocabulary import VocabularyError
from engine.models.catalog import BUNDLED_DIR
from engine.models.resolve import Kind, ModelFolder, ModelNotFoundError, resolve
from engine.training.examples import ExampleError, ExampleSet
from engine.training.objective import Objective

ADAPT: Final = "adapt"
TINY: Final = "tiny"
_DTYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def default_of(kind: str) -> Any:
    """An objective's settings where nothing else is said. Raises `CommandError`."""
    if kind == ADAPT:
        from engine.training.adapt import AdaptationSettings

        return AdaptationSettings()
    if kind == TINY:
        from engine.training.tiny import TinySettings

        return TinySettings()
    raise CommandError(f"a run of an unknown kind: {kind}; it was made by another version of midfill")


def objective_of(order: Order) -> Objective:
    """What is trained. Raises `CommandError`."""
    return _adaptation(order) if order.kind == ADAPT else _tiny(order)


def _adaptation(order: Order) -> Objective:
    from engine.training.adapt import Adaptation
    from engine.training.slips import Slips

    sitting = order.sitting
    if not sitting.model:
        raise BadInputError("--from is missing: the model to adapt, as qwen2.5-coder-0.5b")
    base = base_of(sitting.model)
    device = device_of(sitting.device)
    name = str(base.path) if base.kind is Kind.PATH else base.name
    train, valid = (_examples(path, base.path) for path in (sitting.data, sitting.valid))
    slips = Slips(base.path)
    with loading(base):
        return Adaptation(base.path, name, train, valid, order.settings, slips, device, dtype_of(sitting.dtype, device))


def _tiny(order: Order) -> Objective:
    from engine.training.tiny import TinyTraining
    from engine.training.token_shard import ShardError, TokenShard, tokenizer_hash

    sitting = order.sitting
    device = device_of(sitting.device)
    train, valid = (_examples(path, BUNDLED_DIR) for path in (sitting.data, sitting.valid))
    if not sitting.tokens:
        raise BadInputError("--tokens is missing: the corpus as tokens, made by `midfill train corpus`")
    try:
        tokens = TokenShard.open(Path(sitting.tokens))
    except ShardError as error:
        raise BadInputError(str(error)) from None
    if tokens.tokenizer != tokenizer_hash(BUNDLED_DIR):
        raise BadInputError(f"{sitting.tokens} was made with another tokenizer than the bundled model's; make it anew")
    compiled = sitting.compiled == "yes" or (sitting.compiled == "auto" and device.type == "cuda")
    half = dtype_of(sitting.dtype, device) is torch.bfloat16
    return TinyTraining(BUNDLED_DIR, tokens, train, valid, order.settings, device, half=half, compiled=compiled)


def base_of(model: str) -> ModelFolder:
    """The model to adapt. Raises `BadInputError`."""
    try:
        found = resolve(model)
    except ModelNotFoundError as error:
        raise BadInputError(str(error)) from None
    if found.base is not None:
        raise BadInputError(f"{model} is an adapter itself; give the model that it was made for, {found.base.name}")
    return found


@contextlib.contextmanager
def loading(base: ModelFolder) -> Iterator[None]:
    """Loading of a base in it fails in one line."""
    hf_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    except torch.OutOfMemoryError:
        raise CommandError(f"{base.name} does not fit into the device's memory; choose a smaller model") from None
    except VocabularyError as error:
        raise BadInputError(str(error)) from None
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        told = f"{base.path} can't be adapted: {first}; causal models of the classes Llama, Qwen2 and Qwen3 can"
        raise BadInputError(told) from error


def device_of(asked: str) -> torch.device:
    """`auto`, `cpu`, `cuda`, ... Raises `BadInputError`."""
    if asked == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise BadInputError(f"--device {asked} can't be used here: {first}") from None
    return device


def dtype_of(asked: str, device: torch.device) -> torch.dtype:
    """Of the frozen weights: bfloat16 where it is quick. Raises `BadInputError`."""
    if asked == "auto":
        has_bf16 = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
        return torch.bfloat16 if device.type != "cpu" or (has_bf16 is not None and has_bf16()) else torch.float32
    if asked not in _DTYPES:
        raise BadInputError(f"--dtype must be auto, {' or '.join(_DTYPES)}, not {asked}")
    return _DTYPES[asked]


def _examples(path: str, folder: Path) -> ExampleSet:
    """The examples of a file, if they were made with the tokenizer in `folder`. Raises `BadInputError`."""
    if not path:
        raise BadInputError("--data is missing: the examples, made by `midfill train corpus`")
    if not Path(path).is_file():
        raise BadInputError(f"there are no examples at {path}; `midfill train corpus` makes them")
    try:
        found = ExampleSet.open(Path(path))
        found.check(folder)
    except ExampleError as error:
        raise BadInputError(str(error)) from None
    return found
