"""`midfill train corpus`, the work: texts, then examples and tokens for models. Owns: the folder's layout, its order.

corpus/                       manifest.json and the texts
wheels/                       the packages as they came, unless another folder is named
examples/MODEL.safetensors    holes as tokens, for training; MODEL-valid.safetensors: of texts that no training sees
tokens/MODEL.safetensors      all texts for training as tokens, for a model that is trained from nothing
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import attrs
from attrs import frozen
from rich.console import Console

from engine.commands.errors import BadInputError, CommandError
from engine.commands.stage_view import StageView
from engine.commands.train_choices import changed, split
from engine.models.catalog import BUNDLED_NAME
from engine.models.resolve import ModelFolder, ModelNotFoundError, resolve
from engine.training.corpus import (
    CorpusError,
    Manifest,
    Progress,
    SourceText,
    build_corpus,
    read_corpus,
    read_manifest,
)
from engine.training.examples import ExampleError, ExampleSettings, write_examples
from engine.training.hole_tokens import vocabulary_of
from engine.training.token_shard import write_tokens
from engine.wheels import PackageError

_FROM_NOTHING: Final = frozenset({BUNDLED_NAME})
_LONGER: Final = {BUNDLED_NAME: 320}
"""Longest prompts, in tokens, where another length is usual."""


@frozen
class CorpusOrder:
    """What the command line asks for."""

    out: Path
    models: Sequence[str]
    wheels: Path | None
    humaneval: Path | None
    n: int
    n_valid: int
    rebuild: bool
    changes: Sequence[str]
    """`NAME=VALUE` of the examples' settings."""


def make(order: CorpusOrder) -> None:
    """Make what is asked for. Raises `CommandError`."""
    try:
        models = [resolve(model) for model in order.models]  # before the long work
    except ModelNotFoundError as error:
        raise BadInputError(str(error)) from None
    settings = [_settings(model, order) for model in models]
    with StageView(Console(stderr=True, highlight=False)) as view:
        try:
            _corpus(order, view)
            texts = list(read_corpus(order.out / "corpus"))
            for model, of_model in zip(models, settings, strict=True):
                _examples(model, of_model, texts, order, view)
        except (CorpusError, ExampleError, PackageError) as error:
            raise CommandError(str(error)) from None


def _settings(model: ModelFolder, order: CorpusOrder) -> ExampleSettings:
    usual = ExampleSettings()
    usual = attrs.evolve(usual, prompt_tokens=_LONGER.get(model.name, usual.prompt_tokens))
    (values,) = split(order.changes, usual)
    return changed(usual, values)


def _corpus(order: CorpusOrder, view: StageView) -> None:
    folder = order.out / "corpus"
    before = read_manifest(folder) if (folder / "manifest.json").exists() else None
    if before is not None and not order.rebuild:
        view.note(f"the corpus in {folder} is kept ({_told(before)}); --rebuild makes it again")
        return

    def tell(progress: Progress) -> None:
        detail = f"{progress.package}, {progress.n_bytes / 1e6:.0f} MB so far" if progress.package else "done"
        view.show("reading packages", progress.n_done, progress.n_packages, detail)

    made = build_corpus(folder, order.wheels or order.out / "wheels", humaneval=order.humaneval, tell=tell)
    view.note(f"the corpus is in {folder} ({_told(made)})")
    if before is not None:
        view.note(
            "the same hash as before" if before.sha256 == made.sha256 else f"another hash than before: {before.sha256}"
        )
    view.note("left out: " + ", ".join(f"{n} {reason}" for reason, n in made.dropped.most_common()))
    if made.humaneval_sha256 is None:
        view.note("HumanEval was not at hand, so its problems were not looked for: --humaneval FOLDER")


def _examples(
    model: ModelFolder, settings: ExampleSettings, texts: Sequence[SourceText], order: CorpusOrder, view: StageView
) -> None:
    for suffix, n, for_validation in (("", order.n, False), ("-valid", order.n_valid, True)):
        out = order.out / "examples" / f"{model.name}{suffix}.safetensors"
        chosen = [text for text in texts if text.for_validation == for_validation]
        made = write_examples(chosen, model.path, out, n, settings, _counting(view, f"{out.stem}: examples", n))
        view.note(f"{made} examples are in {out}" + ("" if made == n else f"; {n} were asked for: the corpus is small"))
    if model.name in _FROM_NOTHING:
        out = order.out / "tokens" / f"{model.name}.safetensors"
        kept = [text.text for text in texts if not text.for_validation]
        size = vocabulary_of(model.path).size
        n_tokens = write_tokens(kept, model.path, size, out, _counting(view, f"{out.stem}: tokens of texts", len(kept)))
        view.note(f"{n_tokens / 1e6:.1f} million tokens are in {out}")


def _counting(view: StageView, stage: str, n_total: int) -> Callable[[int], None]:
    return lambda n_done: view.show(stage, n_done, n_total)


def _told(manifest: Manifest) -> str:
    return f"{manifest.n_files} files, {manifest.n_bytes / 1e6:.1f} MB, SHA-256 {manifest.sha256}"
