"""The document's own indentation for an answer. Owns: which blanks its lines begin with.

Must not know: what follows the answer. Lines within strings of several lines are text and stay as they are; so does
whatever is indented as the document does it.
"""

from __future__ import annotations

import re
from typing import Final

from lsp_server.shaping.draft import Edit
from lsp_server.shaping.indent_unit import block_steps
from lsp_server.shaping.lines import begins_with_closer, columns, is_comment, is_label, lead_of, opens_block
from lsp_server.shaping.place import Place
from lsp_server.shaping.scanner import PAIRS, lines_in_strings, tokens

_TOP_LEVEL: Final = re.compile(
    r"(?:async |export |pub )?(?:def|class|fn|func|function|import|from|package|type)\b|@|if __name__|#|//"
)
"""What begins new code at the top of a file, rather than going on with a block."""
_COLON_OPENS: Final = frozenset(["python", "yaml", "gdscript", "nim", "coffeescript", ""])
_GOES_ON: Final = re.compile(r"(?:else|elif|elsif|except|finally|catch|rescue|ensure|when)\b")
"""What goes on with a statement that began before the cursor."""
_CONTINUES: Final = re.compile(r"\s*[.?:&|+,]")
"""A line that goes on with the statement above; what it opens is indented from there."""
_MODEL_TAB: Final = 4
_UNITS: Final = (2, 4, 8)
"""Columns that anybody indents by; other steps are alignment."""


def indented(answer: str, place: Place) -> list[Edit]:
    """The edits that give an answer the document's indentation."""
    lines = answer.split("\n")
    fixed = lines_in_strings(answer, place.language, place.open_string)
    leads = [lead_of(line) for line in lines]
    movable = [
        index
        for index, line in enumerate(lines)
        if line.strip() and index not in fixed and (index or place.begins_line)
    ]
    if movable:
        new = dict(zip(movable, _in_units(lines, movable, place), strict=True))
        if 0 in new:
            new[0] = _behind_typed(new[0], place)
        _shift(lines, new, place)
    else:
        new = {}
    edits: list[Edit] = []
    start = 0
    for index, line in enumerate(lines):
        if index in new and new[index] != leads[index]:
            edits.append(Edit(start, start + len(leads[index]), new[index]))
        start += len(line) + 1
    return edits


def _in_units(lines: list[str], movable: list[int], place: Place) -> list[str]:
    """The blanks of the movable lines in the document's unit."""
    leads = [lead_of(lines[index]) for index in movable]
    unit = place.unit
    if unit.is_mixed:
        return leads
    if not unit.is_tab:
        leads = [lead.replace("\t", unit.text) for lead in leads]
        return _rescaled(lines, movable, leads, place)
    spaces = [len(lead) for lead in leads if lead and "\t" not in lead]
    size = next((size for size in (_MODEL_TAB, 2) if all(n % size == 0 for n in spaces)), _MODEL_TAB)
    return [lead if "\t" in lead else "\t" * (len(lead) // size) + " " * (len(lead) % size) for lead in leads]


def _rescaled(lines: list[str], movable: list[int], leads: list[str], place: Place) -> list[str]:
    """Leads of a model that makes another step into every block than the document ever does."""
    unit = place.unit
    shown = [lead + lines[index].lstrip(" \t") for index, lead in zip(movable, leads, strict=True)]
    typed = movable[0] == 0 and place.head != ""
    if typed:
        shown[0] = place.head + shown[0]
    elif movable[0]:
        shown.insert(0, place.head + lines[0])
    steps = set(block_steps(shown))
    if len(steps) != 1 or not unit.steps or steps & unit.steps:
        return leads
    size = len(unit.text)
    if (step := steps.pop()) in _UNITS:
        base = min(columns(lead_of(line)) for line in shown)
    elif step > 0 and (found := _own_unit(shown, place)):
        base, step = 0, found
    else:
        return leads

    def scaled(lead: str) -> str:
        levels, more = divmod(len(lead) - base, step)
        return " " * (base + levels * size + more) if levels > 0 else lead

    return [lead if typed and not at else scaled(lead) for at, lead in enumerate(leads)]


def _own_unit(shown: list[str], place: Place) -> int | None:
    """The unit of a model that has counted in its own from column 0 on, so that only the first line stands right."""
    level = columns(lead_of(shown[0])) // len(place.unit.text)
    for unit in _UNITS:
        counted = [" " * (level * unit) + shown[0].lstrip(" \t"), *shown[1:]]
        whole = all(columns(lead_of(line)) % unit == 0 for line in counted if line.strip())
        if unit not in place.unit.steps and whole and set(block_steps(counted)) == {unit}:
            return unit
    return None


def _behind_typed(lead: str, place: Place) -> str:
    """The first line's blanks behind those that are typed already: a model may count these once more."""
    typed = columns(place.head)
    more = columns(lead)
    if not typed or not more:
        return lead
    above = place.line_above
    limit = columns(lead_of(above))
    if opens_block(above):
        limit += columns(place.unit.text)
        if above.rstrip()[-1] in "([":
            return lead
    elif _is_open(above, place.language):
        return lead
    if typed + more <= limit:
        return lead
    total = more if typed < more <= limit else typed
    return lead_of(lead)[: len(lead) * (total - typed) // more]


def _is_open(line: str, language: str) -> bool:
    """Whether a line leaves a bracket open, or goes on by its last word; what follows may be aligned to anything."""
    depth, _ = _brackets(line, language)
    return depth > 0 or line.rstrip().endswith(("\\", ",", "+", "-", "*", "/", "=", "&", "|", "?", "and", "or"))


def _shift(lines: list[str], new: dict[int, str], place: Place) -> None:
    """Move the lines behind the first one when the model has counted them from the cursor's column."""
    first = place.head + (new.get(0, "") + lines[0].lstrip(" \t") if place.begins_line else lines[0])
    if not first.strip() or place.open_string or place.unit.is_mixed:
        return
    if "*/" in first or first.endswith("\\") or _CONTINUES.match(first) or _is_open(place.line_above, place.language):
        return
    base = lead_of(first)
    if not base or base == " ":
        return
    later = [index for index in sorted(new) if index]
    if not later:
        return
    if not _counts_from_cursor(first, {index: new[index] + lines[index].lstrip(" \t") for index in later}, place):
        return
    depth, _ = _brackets(first, place.language)
    for index in later:
        net, lowest = _brackets(lines[index], place.language)
        if depth + lowest < 0:  # closes what was open before the answer
            return
        depth += net
        new[index] = base + new[index]


def _brackets(line: str, language: str) -> tuple[int, int]:
    """How many brackets more are open behind a line than before it, and how few at its lowest."""
    depth = lowest = 0
    for token, _ in tokens(line, language):
        if token in PAIRS:
            depth -= 1
        elif token in PAIRS.values():
            depth += 1
        lowest = min(lowest, depth)
    return depth, lowest


def _counts_from_cursor(first: str, later: dict[int, str], place: Place) -> bool:
    base = columns(lead_of(first))
    at, next_line = next(((at, line) for at, line in later.items() if not is_comment(line)), (0, ""))
    if not next_line:
        return False
    column = columns(lead_of(next_line))
    if column > base or begins_with_closer(next_line):
        return False
    if opens_block(first) and (place.language in _COLON_OPENS or not first.rstrip().endswith(":")):
        return not is_label(next_line)
    if column or at > 1 or _GOES_ON.match(next_line) or any(map(_TOP_LEVEL.match, later.values())):
        return False
    return place.next_columns is None or place.next_columns >= base
