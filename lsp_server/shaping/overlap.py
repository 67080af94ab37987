"""What of an answer the document says already. Owns: where an answer ends when it runs on into the text behind it.

Must not know: indentation rules, how an answer was made. An answer that ends as the text behind it begins need not
repeat it: `f(g(` may want one bracket more than is there. So a cut that puts brackets and quotes right is made, one
that puts them wrong is not, and one that does neither needs more than a letter or two in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

from lsp_server.shaping.balance import n_faults
from lsp_server.shaping.lines import columns, lead_of, only_closes
from lsp_server.shaping.place import Place
from lsp_server.shaping.scanner import PAIRS

_WORD: Final = re.compile(r"\w")
_LONG: Final = 3
"""Visible characters in common that are no chance."""
_MARKS: Final = frozenset(",;:{)]}>\"'`")
"""What may end a line, and is not doubled on purpose."""
_VERY_LONG: Final = 20
"""Visible characters that make the beginning of a line a line that was cut off."""
_MOST_CUTS: Final = 8


@frozen
class _Cut:
    """A way to end an answer."""

    kept: int
    """Characters that are kept."""
    convincing: bool
    """Whether what is cut would be repeated for certain, brackets aside."""


def kept_length(answer: str, place: Place) -> int:
    """How much of an answer is new. 0: the document says all of it already."""
    cuts = list(_within_line(answer, place) if not place.ends_line else _whole_lines(answer, place))
    if not cuts:
        return len(answer)
    angles = place.rest.lstrip().startswith(">") and answer.rstrip().endswith(">")
    as_is = n_faults(place, answer, angles=angles)
    cuts.sort(key=lambda cut: cut.kept)
    counted = [(n_faults(place, answer[: cut.kept], angles=angles), cut) for cut in cuts[:_MOST_CUTS]]
    good = [(n, cut) for n, cut in counted if n < as_is or (n == as_is and cut.convincing)]
    if not good:
        return len(answer)
    fewest = min(n for n, _ in good)
    kept = next(cut.kept for n, cut in good if n == fewest)
    return kept if answer[:kept].strip() else 0


def _within_line(answer: str, place: Place) -> Iterator[_Cut]:
    """Cuts where text stands behind the cursor on its line: what the answer's end and that text's beginning share."""
    after, rest = place.after, place.rest.strip()
    for whole in dict.fromkeys((answer, answer.rstrip())):
        for n in range(1, min(len(whole), len(after)) + 1):
            if whole.endswith(after[:n]) and (shared := after[:n].strip()):
                kept = len(whole) - n
                if len(set(shared)) == 1 and shared[0] not in PAIRS and answer[:kept].endswith(shared[0]):
                    continue  # within a run of one character there is no telling
                yield _Cut(kept, _is_convincing(answer[:kept], shared, rest))
    line, newline, more = answer.partition("\n")
    if newline and more.strip() and line.rstrip().endswith(rest):
        yield _Cut(len(line.rstrip()) - len(rest), convincing=False)


def _is_convincing(kept: str, shared: str, rest: str) -> bool:
    if kept.rstrip().endswith(shared):
        return False  # where text repeats, once more says nothing
    if shared in PAIRS and kept.count(PAIRS[shared]) > kept.count(shared):
        return False
    if shared in (",", ";") or "\n" in shared:
        return True
    if shared == rest:
        return len(shared) > 1 or shared in _MARKS
    return len("".join(shared.split())) >= _LONG


def _whole_lines(answer: str, place: Place) -> Iterator[_Cut]:
    """Cuts where nothing stands behind the cursor on its line: before lines that are the document's next ones."""
    following = place.following
    if not following:
        return
    lines = answer.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    lines[0] = place.head + lines[0] if place.begins_line else ""
    visible = [(index, line.rstrip()) for index, line in enumerate(lines) if line.strip()]
    for at, (index, line) in enumerate(visible):
        tail = [line for _, line in visible[at:]]
        shift = columns(lead_of(line)) - columns(lead_of(following[0]))
        if line.strip() != following[0].strip():
            if at and len(tail) == 1 and _begins(following[0], line):
                yield _Cut(len(answer[: starts[index]].rstrip()), convincing=True)
            continue
        n_same = _n_same(tail, following, shift)
        if shift and n_same < 2:
            continue
        kept = len(answer[: starts[index]].rstrip())
        again = at > 0 and visible[at - 1][1] == line  # where lines repeat, one more says nothing
        yield _Cut(kept, convincing=not again and n_same == len(tail) and _says_something(tail, place))
    last = answer.rstrip()
    closer = following[0].strip()
    if only_closes(closer) and last.endswith(closer):
        yield _Cut(len(last) - len(closer), convincing=False)


def _n_same(tail: list[str], following: tuple[str, ...], shift: int) -> int:
    """How many lines are the document's next ones, shifted alike. The last may be cut off."""
    n_same = 0
    for ours, theirs in zip(tail, following, strict=False):
        if columns(lead_of(ours)) - columns(lead_of(theirs)) != shift:
            break
        if ours.strip() != theirs.strip():
            cut_off = n_same + 1 == len(tail) and theirs.strip().startswith(ours.strip())
            return n_same + cut_off
        n_same += 1
    return n_same


def _begins(theirs: str, ours: str) -> bool:
    """Whether a line is the beginning of another, and not by chance."""
    return len(ours.strip()) >= _VERY_LONG and theirs.startswith(ours)


def _says_something(lines: list[str], place: Place) -> bool:
    if place.open_string and lines[0].strip() == place.open_string:  # it ends once
        return True
    return any(_WORD.search(line) and not only_closes(line) for line in lines)
