"""HumanEval's problems, so that no text of the corpus holds one. Owns: what counts as holding one."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import zlib
from pathlib import Path
from typing import Any, Final

from attrs import frozen

_LONG: Final = 15
"""Characters of a docstring's line that can give a problem away."""


class BenchmarkError(ValueError):
    """The problems can't be read. The message names the file."""


@frozen
class Problem:
    """A function to be written."""

    signature: str
    docstring: frozenset[str]
    """Its longer lines."""

    def is_in(self, lines: frozenset[str]) -> bool:
        """Whether a text with these lines holds the function and some of its docstring."""
        return self.signature in lines and (not self.docstring or bool(self.docstring & lines))


@frozen
class Benchmark:
    """Problems that must stay unseen."""

    problems: frozenset[Problem]
    sha256: str
    """Of the files they came from."""

    @classmethod
    def read(cls, folder: Path) -> Benchmark:
        """From the data set's `.jsonl.gz` files. Raises `BenchmarkError`."""
        files = sorted(folder.glob("*.jsonl.gz"))
        if not files:
            raise BenchmarkError(f"{folder} holds no .jsonl.gz file of HumanEval")
        problems: set[Problem] = set()
        digest = hashlib.sha256()
        for file in files:
            try:
                data = gzip.decompress(file.read_bytes())
                problems |= {_problem(json.loads(line)) for line in data.splitlines() if line.strip()}
            except (
                OSError,
                EOFError,
                zlib.error,
                ValueError,
                KeyError,
                TypeError,
                SyntaxError,
                StopIteration,
            ) as error:
                raise BenchmarkError(f"{file} is no file of HumanEval ({type(error).__name__}: {error})") from None
            digest.update(data)
        return cls(frozenset(problems), digest.hexdigest())

    def is_in(self, text: str) -> bool:
        """Whether a text holds one of the problems."""
        lines = frozenset(_bare(line) for line in text.split("\n"))
        return any(problem.is_in(lines) for problem in self.problems)


def _problem(row: dict[str, Any]) -> Problem:
    program = row["prompt"] + row["canonical_solution"] + row.get("suffix", "")
    name = row["entry_point"]
    wanted = next(n for n in ast.walk(ast.parse(program)) if isinstance(n, ast.FunctionDef) and n.name == name)
    docstring = ast.get_docstring(wanted) or ""
    return Problem(
        _bare(program.split("\n")[wanted.lineno - 1]),
        frozenset(bare for line in docstring.split("\n") if len(bare := _bare(line)) >= _LONG),
    )


def _bare(line: str) -> str:
    """Without the quotes that a docstring's first and last line stand in."""
    return line.strip(" \t\"'")
