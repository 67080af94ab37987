"""Names in code, as words to search by. Owns: what counts as a name, and how names fall into parts.

Must not know: languages' grammars, files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_NAME: Final = re.compile(r"[^\W\d]\w*")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+|\d+")
_SHORTEST, _LONGEST = 3, 60

_COMMON_WORDS: Final = """
    and any args arg bool break case catch char class const continue data def default del dict double elif else end enum
    except export extends false final finally float for from func function get global goto if impl implements import
    index init int interface is item items key kwargs lambda len let line list local long map match mod mut name
    namespace new next nil none not null object of ok or package pass path print private protected pub public raise
    range result return self set short size static str string struct super switch template text then this throw throws
    trait true try tuple type typedef undefined union unsigned use using val value values var virtual void where while
    with yield
"""
"""Words of languages, and names that everybody uses: they say nothing about where to look."""
_COMMON: Final = frozenset(_COMMON_WORDS.split())


def names_in(text: str) -> Iterator[str]:
    """The names in `text` in order, with repetitions; without words that say nothing."""
    for name in _NAME.findall(text):
        if _SHORTEST <= len(name) <= _LONGEST and name.lower() not in _COMMON:
            yield name


def parts_of(name: str) -> list[str]:
    """The words that a name is made of, in lower case: `loadConfig_file` is load, config, file."""
    return [part.lower() for part in _PART.findall(name) if len(part) >= _SHORTEST]


def words_in(text: str) -> Iterator[str]:
    """Names in lower case, each followed by its parts when it has several: what is indexed, and searched for."""
    for name in names_in(text):
        whole = name.lower().strip("_")
        yield whole
        parts = parts_of(name)
        if len(parts) > 1:
            yield from (part for part in parts if part not in _COMMON and part != whole)
