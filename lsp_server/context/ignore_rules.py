"""Ignore files in git's syntax, nested as in git. Owns: reading them, which of their rules wins, noticing changes.

Must not know: what ignoring is good for. The patterns themselves are pathspec's. As in git, rules of a deeper folder
win over those above, later lines over earlier ones, and nothing below an ignored folder can be taken back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import frozen

if TYPE_CHECKING:
    from pathspec.pattern import RegexPattern

_FOLDER_MARK: Final = "ps_d"
"""pathspec's group for the slash behind a folder."""
_ALL_FOLDERS: Final = f"(?P<{_FOLDER_MARK}>/)"
_MOST_FOLDERS: Final = 2000
"""Folders whose rules are kept; beyond it all are forgotten and read again."""
_MOST_BYTES: Final = 256 * 1024
_Stamp = tuple[int, int] | None


@frozen
class _Rules:
    """One ignore file as it was read."""

    stamp: _Stamp
    patterns: tuple[RegexPattern, ...]


def _patterns(lines: Iterable[str]) -> tuple[RegexPattern, ...]:
    """Patterns in git's syntax, strongest first. A line that can't be read is left out, as git does."""
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if not lines:
        return ()
    from pathspec import GitIgnoreSpec  # here: most folders have no rules, and it costs memory

    found: list[RegexPattern] = []
    for line in lines:
        try:
            # `x/**/` and `x/**/*/` are the same, but pathspec takes the first for files too
            found += GitIgnoreSpec.from_lines([line + "*/" if line.endswith("**/") else line]).patterns
        except ValueError:
            continue
    return tuple(reversed(found))


def _says(pattern: RegexPattern, target: str) -> bool | None:
    """Whether a pattern ignores (or takes back) `target` itself; None when it does not speak of it.

    pathspec lets a folder's pattern match all below it. Git does not: it asks at each folder on the way down.
    """
    if pattern.include is None or pattern.regex is None or (result := pattern.match_file(target)) is None:
        return None
    end = result.match.end()
    if pattern.regex.pattern == _ALL_FOLDERS:
        speaks = target.endswith("/")
    elif _FOLDER_MARK in pattern.regex.groupindex:
        speaks = end == len(target)
    else:  # `*`, or `x/**`, which is about what is in x and not about x
        speaks = not target[:end].endswith("/") or end < len(target)
    return pattern.include if speaks else None


class IgnoreRules:
    """The ignore files named `name` in `root` and below; or, without a name, the given lines alone."""

    def __init__(self, root: Path, name: str = "", *, also: str = "", lines: Sequence[str] = ()) -> None:
        self.root = root
        self._name = name
        self._also = also
        """A further file of the root, weaker than its own; a path relative to the root."""
        self._lines = tuple(lines)
        """Further lines for the root, weaker still."""
        self._rules: dict[str, _Rules] = {}
        self._folders: dict[str, bool] = {}

    def ignored(self, path: str, *, is_folder: bool = False) -> bool:
        """Whether `path`, relative to the root and with `/`, or a folder above it, is ignored."""
        folder = path.rpartition("/")[0]
        if folder and self._folder_ignored(folder):
            return True
        return self._folder_ignored(path) if is_folder else self._matched(path, path)

    def refresh(self) -> bool:
        """Forget what changed on disk since it was read; whether anything did."""
        changed = bool(self._name) and any(
            _stamp(self._file(folder)) != rules.stamp for folder, rules in list(self._rules.items())
        )
        if changed:
            self._rules.clear()
            self._folders.clear()
        return changed

    def _folder_ignored(self, folder: str) -> bool:
        known = self._folders.get(folder)
        if known is None:
            above = folder.rpartition("/")[0]
            known = bool(above and self._folder_ignored(above)) or self._matched(folder, folder + "/")
            if len(self._folders) >= _MOST_FOLDERS:
                self._folders.clear()
            self._folders[folder] = known
        return known

    def _matched(self, path: str, target: str) -> bool:
        """What the deepest rule that speaks of `path` says; `target` is the path, with a slash if it is a folder."""
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            about = target[len(folder) + 1 :] if folder else target
            for pattern in self._patterns(folder):
                said = _says(pattern, about)
                if said is not None:
                    return said
        return False

    def _patterns(self, folder: str) -> tuple[RegexPattern, ...]:
        rules = self._rules.get(folder)
        if rules is None:
            rules = self._read(folder)
            if len(self._rules) >= _MOST_FOLDERS:
                self._rules.clear()
            self._rules[folder] = rules
        return rules.patterns

    def _read(self, folder: str) -> _Rules:
        file = self._file(folder)
        stamp = _stamp(file) if self._name else None
        lines: list[str] = []
        if not folder:
            lines += self._lines
            if self._also and _stamp(self.root / self._also) is not None:
                lines += _lines(self.root / self._also)
        if stamp is not None:
            lines += _lines(file)
        return _Rules(stamp, _patterns(lines))

    def _file(self, folder: str) -> Path:
        return self.root / folder / self._name


def _stamp(file: Path) -> _Stamp:
    """What tells that a file has changed; None where there is none, or what would block, as a pipe does."""
    try:
        status = os.stat(file)  # noqa: PTH116 - a Path's own costs twice as much, and this runs for many folders
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size) if stat.S_ISREG(status.st_mode) else None


def _lines(file: Path) -> list[str]:
    try:
        with file.open(encoding="utf-8-sig", errors="replace", newline="\n") as opened:
            return [line.removesuffix("\r") for line in opened.read(_MOST_BYTES).split("\n")]
    except OSError:
        return []
