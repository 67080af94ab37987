"""The command line, `midfill`. Owns: the list of commands and how any of them ends.

torch and transformers are imported only inside the commands that need them: `midfill --help` must be quick.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

import typer
from attrs import frozen

from engine.commands.ending import Ending, drop_stdout, flush_stdout, open_streams
from engine.commands.errors import BAD_INPUT, FAILURE, CommandError
from engine.commands.model import app as model
from engine.commands.train import app as train

_HELP: Final = """Fill code with diffusion language models: a region anywhere in a file is denoised as one block.

Editors start midfill-lsp; midfill is for people and scripts. Settings: config.toml, MIDFILL_... variables, options.
"""
_INTERRUPTED: Final = 130
"""As a shell reports a process that SIGINT ended."""
_ending: Final = Ending()


@frozen
class _Command:
    """One command. Its module is imported when it is asked for: some are slow to import."""

    name: str
    module: str
    function: str
    help: str


_COMMANDS: Final = (
    _Command("fill", "engine.commands.fill", "fill", "Fill at a place in a file, and show it while it converges."),
    _Command(
        "engine", "engine.commands.engine", "engine", "Run the engine in the foreground, or stop the running one."
    ),
    _Command("status", "engine.commands.status", "status", "Show what the running engine does."),
    _Command("doctor", "engine.commands.doctor", "doctor", "Check the installation and say what to do."),
    _Command("stats", "engine.commands.stats", "stats", "Show what was suggested and accepted; counted locally."),
    _Command("bench", "engine.commands.bench", "bench", "Measure times and memory, beside plain transformers."),
    _Command("eval", "engine.commands.eval", "eval_command", "Fill known holes and say how good the model is."),
)


def make_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """All commands; of those that `arguments` do not name, only what the list of commands shows."""
    app = typer.Typer(name="midfill", help=_HELP, rich_markup_mode=None, add_completion=False)
    for command in _COMMANDS:
        if command.name in arguments:
            app.command(command.name)(getattr(importlib.import_module(command.module), command.function))
        else:
            app.command(command.name, help=command.help)(_not_asked_for)
    app.add_typer(model, name="model")
    app.add_typer(train, name="train")
    app.callback()(_options)
    return app


def _not_asked_for() -> None:
    raise AssertionError("a command that is not among the arguments was run")


def _version(asked: bool) -> None:
    if asked:
        import importlib.metadata

        typer.echo(f"midfill {importlib.metadata.version('midfill')}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_version, help="Print the version and leave."
    ),
) -> None:
    pass


def main() -> None:
    """The console script. Errors are one line on stderr: exit code 2 for bad input, 1 for a failure."""
    open_streams()
    _ending.listen()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code."""
    if arguments in ([], ["model"], ["train"]):
        arguments = [*arguments, "--help"]
    try:
        code = make_app(arguments)(arguments, prog_name="midfill", standalone_mode=False)
        flush_stdout()
    except CommandError as error:
        return _end(error.code, str(error))
    except typer.TyperException as error:
        return _end(BAD_INPUT, _usage(error))
    except KeyboardInterrupt:
        return _end(_ending.code, _ending.told)
    except BrokenPipeError:
        drop_stdout()
        return FAILURE
    except OSError as error:
        if os.environ.get("MIDFILL_TRACEBACK"):
            raise
        if error.filename is None:  # no file, but the output: a full disk
            drop_stdout()
            return _end(FAILURE, f"can't write the output: {error.strerror or error}")
        return _end(FAILURE, f"{error.filename}: {error.strerror}")
    except Exception as error:
        if os.environ.get("MIDFILL_TRACEBACK"):
            raise
        told = f"{type(error).__name__}: {error}"
        return _end(FAILURE, f"internal error, {told} (for a bug report: set MIDFILL_TRACEBACK=1 and run it again)")
    if code == _INTERRUPTED:  # typer turns the interrupt into its code, and says nothing
        return _end(_ending.code, _ending.told)
    return code if isinstance(code, int) else 0


def _usage(error: typer.TyperException) -> str:
    told = getattr(error, "format_message", lambda: str(error))()
    context = getattr(error, "ctx", None)
    return f"{told.rstrip('.')}; see: {context.command_path} --help" if context is not None else told


def _end(code: int, message: str) -> int:
    told = " ".join(message.split()).removeprefix("midfill: ")  # as an engine that we started has told it
    print(f"midfill: {told}" if told else "midfill: failed", file=sys.stderr)  # noqa: T201
    return code
