"""Holes in the standard library's own files: the true text comes through, and what is repeated behind it goes away."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

from lsp_server.shaping import Place, shaped_text, why_not

N_HOLES = 400
FILES = [
    "argparse.py", "ast.py", "bdb.py", "bisect.py", "calendar.py", "cmd.py", "codecs.py", "configparser.py", "csv.py",
    "dataclasses.py", "difflib.py", "dis.py", "enum.py", "fractions.py", "ftplib.py", "functools.py", "gzip.py",
    "heapq.py", "http/client.py", "imaplib.py", "inspect.py", "json/decoder.py", "json/encoder.py", "logging/config.py",
    "mailbox.py", "mimetypes.py", "pathlib.py", "pickle.py", "queue.py", "selectors.py", "shutil.py", "smtplib.py",
    "socketserver.py", "statistics.py", "string.py", "subprocess.py", "tarfile.py", "textwrap.py", "typing.py",
]  # fmt: skip


class Hole:
    """A hole in a file's text."""

    def __init__(self, text: str, kind: str, rng: random.Random) -> None:
        lines = text.split("\n")
        visible = [index for index, line in enumerate(lines) if len(line.strip()) > 2]
        first = rng.choice(visible)
        start = sum(len(line) + 1 for line in lines[:first])
        indent = len(lines[first]) - len(lines[first].lstrip())
        if kind == "within":
            left = rng.randrange(indent, len(lines[first]) - 1)
            self.start, self.end = start + left, start + rng.randrange(left + 1, len(lines[first]))
        elif kind == "rest":
            self.start, self.end = start + rng.randrange(indent, len(lines[first])), start + len(lines[first])
        else:
            n_lines = 1 if kind == "line" else rng.randrange(2, 9)
            last = [index for index in visible if index >= first][:n_lines][-1]
            self.start = start + rng.choice([0, indent])
            self.end = sum(len(line) + 1 for line in lines[: last + 1]) - 1
        self.middle = text[self.start : self.end]
        self.place = Place(text[: self.start][-48_000:], text[self.end :][:16_000], "python")


def holes(kind: str) -> list[Hole]:
    """The same holes in every run."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    texts = [path.read_text("utf-8") for name in FILES if (path := folder / name).exists()]
    rng = random.Random(f"holes {kind}")
    return [hole for _ in range(N_HOLES) if (hole := Hole(rng.choice(texts), kind, rng)).middle.strip()]


def same(text: str, true: str, place: Place) -> bool:
    return text.rstrip() == true.rstrip() if place.ends_line else text == true


@pytest.mark.parametrize(("kind", "least"), [("within", 0.99), ("rest", 0.995), ("line", 0.995), ("block", 0.99)])
def test_the_true_text_comes_through(kind: str, least: float) -> None:
    found = holes(kind)
    harmed = [hole for hole in found if not same(shaped_text(hole.middle, hole.place), hole.middle, hole.place)]
    assert len(harmed) <= len(found) * (1 - least), [(hole.middle, hole.place.after[:80]) for hole in harmed]


@pytest.mark.parametrize(("kind", "least"), [("rest", 0.95), ("line", 0.96), ("block", 0.95)])
def test_lines_that_follow_are_not_repeated(kind: str, least: float) -> None:
    rng = random.Random(f"lines {kind}")
    left = []
    found = holes(kind)
    for hole in found:
        following = hole.place.after.split("\n")
        answer = hole.middle + "\n".join(following[: 2 + rng.randrange(3)])
        if not same(shaped_text(answer, hole.place), hole.middle, hole.place):
            left.append(answer)
    assert len(left) <= len(found) * (1 - least), left


def test_the_rest_of_the_line_is_not_repeated() -> None:
    found = [hole for hole in holes("within") if len(hole.place.rest.strip()) > 1]
    left = [hole for hole in found if shaped_text(hole.middle + hole.place.rest, hole.place) != hole.middle]
    assert len(left) <= len(found) * 0.04, [(hole.middle, hole.place.rest) for hole in left]


@pytest.mark.parametrize(("kind", "most"), [("rest", 0.005), ("line", 0.01), ("block", 0.005)])
def test_the_true_text_is_shown(kind: str, most: float) -> None:
    found = holes(kind)
    hidden = [hole.middle for hole in found if why_not(hole.middle, hole.place) is not None]
    assert len(hidden) <= len(found) * most, hidden
