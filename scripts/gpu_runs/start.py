"""How the scripts begin: their options, what must be there, and which of their processes this is.

Owns: the command line. Imports neither torch nor what needs it until it is known to be there.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_runs.packages import missing, wheels

if TYPE_CHECKING:
    from gpu_runs.record import Record
    from gpu_runs.sections import Section


def options(description: str, out: str, budget: float) -> argparse.ArgumentParser:
    """What both scripts take."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path(out), help=f"folder of the results; default: {out}")
    parser.add_argument("--budget", type=float, default=budget, help=f"seconds in all; default: {budget:.0f}")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes, for a try without a GPU")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, ...; default: auto")
    parser.add_argument("--wheels", type=Path, help="folder of pure-Python wheels that are missing or too old here")
    parser.add_argument("--section", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    return parser


def begin(given: argparse.Namespace, needed: Sequence[str], run: Callable[[], int]) -> int:
    """Run with the carried packages in place; one line and 2 when something is missing."""
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with wheels(given.wheels):
        if lacking := missing(needed):
            sys.stderr.write(f"{lacking}\n")
            return 2
        import engine.denoisers  # noqa: F401  (how threads wait is set before torch is imported)

        return run()


def device_of(asked: str) -> str:
    """`auto` is CUDA where it is."""
    import torch

    return ("cuda" if torch.cuda.is_available() else "cpu") if asked == "auto" else asked


def conduct(
    script: Path,
    given: argparse.Namespace,
    arguments: Sequence[str],
    sections: Sequence[Section],
    record: Record,
    table: Callable[[Record], str],
) -> int:
    """All sections and the table; or, in a process of its own, one of them."""
    from gpu_runs.sections import run_all, run_one, told

    if given.section:
        (section,) = [one for one in sections if one.name == given.section]
        return run_one(section, given.until, record)
    record.path.unlink(missing_ok=True)
    command = [sys.executable, "-u", str(script), *arguments]
    well = run_all(sections, command, given.budget, record)
    text = table(record)
    record.path.with_suffix(".txt").write_text(text, encoding="utf-8")
    told(text)
    told(f"written to {record.path} and beside it")
    return 0 if well else 1
