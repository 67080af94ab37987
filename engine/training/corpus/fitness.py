"""Whether a file is worth learning from, by itself. Owns: those rules. Must not know: other files."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Final

from engine.training.corpus.licence import names_another_licence
from engine.training.corpus.manifest import Dropped

_SHORTEST: Final = 300
_LONGEST: Final = 200_000
"""Bytes."""
_VENDORED: Final = re.compile(
    r"(^|/)_?(vendor|vendored|vendored_packages|extern|external|externals|third_party|thirdparty|array_api_compat)/"
)
_TEST_DATA: Final = re.compile(r"(^|/)(test_?data|fixtures?|cassettes)/|(^|/)tests?/(.*/)?_?data/")
_GENERATED: Final = re.compile(
    r"auto-?\s?(matically )?generated|generated (by|from|with) |do not (edit|modify)|@generated", re.IGNORECASE
)
_HEADER: Final = 600
"""Characters within which a generated file says so."""
_LONGEST_LINE: Final = 500
_MEAN_LINE: Final = 90
_FEW: Final = 50
"""Values that are no table yet."""
_TABLE: Final = 2.0
"""Values for each name from which a file is one."""


def unfit_place(path: str) -> Dropped | None:
    """What speaks against a file of this name."""
    if _VENDORED.search(path):
        return Dropped.VENDORED
    if _TEST_DATA.search(path):
        return Dropped.TEST_DATA
    return None


def decoded(data: bytes) -> str | Dropped:
    """The text, with `\\n` as line end, or what speaks against it."""
    if not _SHORTEST <= len(data) <= _LONGEST:
        return Dropped.SIZE
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Dropped.ENCODING
    text = text.replace("\r\n", "\n")
    return Dropped.ENCODING if "\r" in text or "\0" in text else text


def unfit_text(text: str) -> Dropped | None:
    """What speaks against this text."""
    if names_another_licence(text):
        return Dropped.LICENCE
    if _GENERATED.search(text[:_HEADER]):
        return Dropped.GENERATED
    lengths = [len(line) for line in text.split("\n") if line.strip()]
    if not lengths or max(lengths) > _LONGEST_LINE or sum(lengths) > _MEAN_LINE * len(lengths):
        return Dropped.TABLE
    return None


def unfit_tree(text: str) -> Dropped | None:
    """What speaks against what the text says as a program; the slowest look, so it comes last."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old escapes in other people's texts
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Dropped.SYNTAX
    n_values = n_names = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            n_values += 1
        elif isinstance(node, ast.Name | ast.Attribute | ast.arg | ast.alias | ast.keyword):
            n_names += 1
    return Dropped.TABLE if n_values > max(_FEW, _TABLE * n_names) else None
