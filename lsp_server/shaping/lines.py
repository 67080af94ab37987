"""Lines of a text and their indentation. Must not know: places, what indentation is right."""

from __future__ import annotations

import re
from typing import Final

_TAB_COLUMNS: Final = 4
"""What a tab counts as where spaces and tabs are compared."""
_OPENS: Final = re.compile(r"(?:[{(\[:]|=>|->|\b(?:then|do)|^\s*else)$")
_COMMENT: Final = re.compile(r"\s*(?:#|//|--|\*|;|%)")
_COMMENT_BEHIND: Final = re.compile(r"\s(?:#|//|--\s).*|\s+$")
_LABEL: Final = re.compile(r"\s*(?:case|default|public|private|protected|signals)\b")
_CLOSES: Final = re.compile(r"\s*(?:[)\]}]|</|(?:end|fi|done|esac)\b)")
_ONLY_CLOSES: Final = re.compile(r"\s*(?:[)\]}>;,\s]+|(?:end|fi|done|esac)\b[\s;,)]*)")


def lead_of(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def columns(lead: str) -> int:
    """How far blanks indent."""
    return len(lead) + (_TAB_COLUMNS - 1) * lead.count("\t")


def opens_block(line: str) -> bool:
    """Whether the line after this one is likely to be indented deeper."""
    return not is_comment(line) and _OPENS.search(_COMMENT_BEHIND.sub("", line)) is not None


def begins_with_closer(line: str) -> bool:
    """Whether a line begins by closing what is open."""
    return _CLOSES.match(line) is not None


def is_label(line: str) -> bool:
    """Whether a line may stand as deep as the block that it is in."""
    return _LABEL.match(line) is not None


def is_comment(line: str) -> bool:
    """Whether a line is a comment, in most languages."""
    return _COMMENT.match(line) is not None


def only_closes(line: str) -> bool:
    """Whether a line does nothing but close what is open."""
    return _ONLY_CLOSES.fullmatch(line) is not None
