"""`midfill train`: a corpus, runs that learn from it, and what they export. Owns: the commands' options.

torch and the packages of the extra `train` are imported inside the commands.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from engine.commands.errors import BadInputError, CommandError

if TYPE_CHECKING:
    from engine.commands.train_order import Asked
    from engine.training.objective import Objective
    from engine.training.run_folder import RunFolder

app = typer.Typer(help="Train models: corpus, run, adapt, eval, export.", rich_markup_mode=None)

_MODELS: Final = ("qwen2.5-coder-0.5b", "bundled")
_EXTRA: Final = frozenset({"peft", "matplotlib"})
Out = Annotated[Path, typer.Option(help="The run's folder.", show_default=False)]
Data = Annotated[Path | None, typer.Option(help="Examples, made by `midfill train corpus`.", show_default=False)]
Valid = Annotated[
    Path | None, typer.Option(help="Examples to validate on; default: DATA-valid beside DATA.", show_default=False)
]
Steps = Annotated[
    int | None, typer.Option(min=1, help="End of the run; the learning rate falls towards it.", show_default=False)
]
Minutes = Annotated[float | None, typer.Option(min=0.01, help="End of this sitting.", show_default=False)]
Seed = Annotated[int | None, typer.Option(help="Of all that is drawn by chance; default: 0.", show_default=False)]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, as its last sitting did.")]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda, ...; default: auto.", show_default=False)]
Dtype = Annotated[
    str | None, typer.Option(help="Of matrix products: auto, float32, bfloat16; default: auto.", show_default=False)
]
Threads = Annotated[int, typer.Option(min=0, max=1024, help="CPU threads; 0: as many as torch takes.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any other setting: docs/training.md. May be repeated."),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")]


@app.command()
def corpus(
    out: Annotated[Path, typer.Argument(help="Folder for corpus, examples and tokens.")],
    models: Annotated[
        list[str] | None,
        typer.Option("--for", help="Make examples for this model. May be repeated; default: both of midfill's."),
    ] = None,
    wheels: Annotated[
        Path | None, typer.Option(help="Folder of the packages' wheels; default: OUT/wheels.", show_default=False)
    ] = None,
    humaneval: Annotated[
        Path | None, typer.Option(help="HumanEval's files, whose problems are to be left out.", show_default=False)
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Examples for each model.")] = 40_000,
    n_valid: Annotated[int, typer.Option(min=1, help="Examples to validate on, for each model.")] = 400,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Build the corpus again where there is one.")] = False,
    changes: Changes = None,
) -> None:
    """Build the corpus from pinned packages, and from it examples of holes for models. Missing packages are fetched."""
    from engine.commands.train_corpus import CorpusOrder, make

    chosen = models or _MODELS
    make(CorpusOrder(out.absolute(), chosen, wheels, humaneval, n, n_valid, rebuild, changes or ()))


@app.command()
def adapt(
    out: Out,
    model: Annotated[
        str | None,
        typer.Option("--from", help="Causal model: a name of `midfill model list`, or a folder.", show_default=False),
    ] = None,
    data: Data = None,
    valid: Valid = None,
    steps: Steps = None,
    minutes: Minutes = None,
    seed: Seed = None,
    resume: Resume = False,
    device: Device = None,
    dtype: Dtype = None,
    threads: Threads = 0,
    changes: Changes = None,
) -> None:
    """Teach a causal model to denoise a canvas, through an adapter that leaves its own weights as they are."""
    from engine.commands.connection import absolute_model
    from engine.commands.train_objective import ADAPT
    from engine.commands.train_order import Asked

    given = {"model": absolute_model(model) if model else None, "device": device, "dtype": dtype}
    _sit(ADAPT, Asked(out, resume, steps, minutes, seed, changes or (), given, {"data": data, "valid": valid}), threads)


@app.command()
def run(
    out: Out,
    data: Data = None,
    valid: Valid = None,
    tokens: Annotated[
        Path | None, typer.Option(help="The corpus as tokens, made by `midfill train corpus`.", show_default=False)
    ] = None,
    steps: Steps = None,
    minutes: Minutes = None,
    seed: Seed = None,
    resume: Resume = False,
    device: Device = None,
    dtype: Dtype = None,
    compiled: Annotated[
        bool | None, typer.Option("--compile/--no-compile", help="With torch.compile; default: on CUDA.")
    ] = None,
    threads: Threads = 0,
    changes: Changes = None,
) -> None:
    """Train the tiny model of DiffusionGemma's class from nothing: the next token first, then canvases."""
    from engine.commands.train_objective import TINY
    from engine.commands.train_order import Asked

    given = {"device": device, "dtype": dtype, "compiled": None if compiled is None else "yes" if compiled else "no"}
    paths = {"data": data, "valid": valid, "tokens": tokens}
    _sit(TINY, Asked(out, resume, steps, minutes, seed, changes or (), given, paths), threads)


@app.command("eval")
def evaluate(
    folder: Run,
    device: Device = None,
    threads: Threads = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print a checkpoint's figures on its validation examples."""
    from engine.training.journal import RIGHT, grouped
    from engine.training.loop import averaged, means

    with _reported():
        objective, run_folder = _reopened(folder, device, threads)
        with averaged(objective, run_folder) as trained:
            figures = means(objective.validate())
    if as_json:
        import json

        typer.echo(json.dumps({**trained, "valid": figures}))
        return
    minutes = trained["seconds"] / 60
    typer.echo(
        f"{folder}: {trained['step']} steps, {minutes:.1f} minutes, {trained['n_tokens'] / 1e6:.2f} million tokens"
    )
    for group, kinds in grouped(figures).items():
        for kind, value in kinds.items():
            told = f"{value:.1%}" if group == RIGHT else f"{value:.3f}"
            typer.echo(f"  {group if kind == group else f'{group} {kind}':<20} {told}")
    typer.echo(f"How good its text is: midfill train export {folder} OUT; midfill eval held-out --rebuild --model OUT")


@app.command()
def export(
    folder: Run,
    out: Annotated[Path, typer.Argument(help="The new folder, for --model.")],
    device: Device = None,
    threads: Threads = 0,
) -> None:
    """Write a checkpoint's averaged weights as a folder that the engine runs."""
    import shutil

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInputError(f"{out} is there already; name a new folder")
    from engine.training.loop import export as write

    fresh = out.absolute().with_name(f".{out.absolute().name}.new")  # so that what is called OUT is whole
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        with _reported():
            write(*_reopened(folder, device, threads), fresh)
        fresh.replace(out)  # an empty folder may be there
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    typer.echo(f"written to {out}; try it: midfill fill FILE:LINE:COL --model {out}")


def _sit(kind: str, asked: Asked, threads: int) -> None:
    """One sitting of a run."""
    with _reported():
        from engine.commands.train_objective import default_of, objective_of
        from engine.commands.train_order import begin
        from engine.commands.train_sitting import PICTURE, sit

        _set_threads(threads)
        order = begin(asked, kind, default_of)
        n_steps = sit(objective_of(order), order)
    typer.echo(f"{n_steps} steps are done; their curves: {asked.out / PICTURE}")
    typer.echo(f"Next: midfill train eval {asked.out}; midfill train export {asked.out} OUT")


def _reopened(folder: Path, device: str | None, threads: int) -> tuple[Objective, RunFolder]:
    """What was trained in a folder."""
    from engine.commands.train_objective import default_of, objective_of
    from engine.commands.train_order import reopen

    _set_threads(threads)
    order = reopen(folder, default_of, device)
    return objective_of(order), order.folder


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """What training can't go on with, in it, ends the command in one line."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRA:
            raise
        told = f"training needs more packages ({missing} is missing); run: pip install 'midfill[train]'"
        raise CommandError(told) from None
    except ValueError as error:
        from engine.training.run_folder import RunError

        if not isinstance(error, RunError):
            raise
        raise CommandError(str(error)) from None


def _set_threads(n: int) -> None:
    if n:
        import torch

        torch.set_num_threads(n)
