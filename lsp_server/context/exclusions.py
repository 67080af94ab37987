"""Which files may be a target or a context at all. Owns: how names, contents and the user's rules go together.

Must not know: the index, the engine. Thread-safe enough for its two callers, the event loop and the background thread:
they share caches whose entries are replaced whole.

| | target | context when open | context from disk |
|---|---|---|---|
| secret, by name or by shape | no | no | no |
| `.midfillignore`, the setting `exclude` | no | no | no |
| `.gitignore` | yes | yes | no |

A git-ignored file that a person opened is text like any other: ignored is not secret.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lsp_server.context.ignore_rules import IgnoreRules
from lsp_server.context.secret_names import is_secret_name
from lsp_server.context.secret_shapes import is_secret_text
from lsp_server.outcomes import Nothing

OWN_RULES: Final = ".midfillignore"
GIT_RULES: Final = ".gitignore"
HEAD_CHARS: Final = 8 * 1024
"""As much of a file's beginning decides about the file."""
_MOST_ROOTS: Final = 64


class Exclusions:
    """The rules of one set of workspace folders."""

    def __init__(self, folders: Sequence[Path] = (), globs: Sequence[str] = ()) -> None:
        self._folders = sorted(folders, key=lambda folder: len(folder.parts), reverse=True)
        self._globs = IgnoreRules(Path("/"), lines=globs)
        """Nothing in them is about one folder, so one set of rules serves all."""
        self._own: dict[Path, IgnoreRules] = {}
        self._git: dict[Path, IgnoreRules] = {}
        self._roots: dict[Path, Path] = {}

    def of_name(self, path: Path) -> Nothing | None:
        """Why the file at `path` is neither completed nor quoted, by its name and the user's rules."""
        if is_secret_name(str(path)):
            return Nothing.SECRET
        folder = self._folder_of(path)
        if self._globs.ignored(_relative(path, folder) or path.as_posix().lstrip("/")):
            return Nothing.EXCLUDED
        root = self._root_of(folder or path.parent)
        rules = _rules_of(self._own, root, OWN_RULES)
        return Nothing.EXCLUDED if rules.ignored(_relative(path, root)) else None

    def of_text(self, head: str) -> Nothing | None:
        """Why a file that begins with `head` is left alone."""
        head = head[:HEAD_CHARS]
        if "\0" in head:
            return Nothing.EXCLUDED
        return Nothing.SECRET if is_secret_text(head) else None

    def unlisted(self, path: Path, *, is_folder: bool = False) -> bool:
        """Whether a file or folder of a workspace folder is not read from disk: excluded, or git-ignored."""
        folder = self._folder_of(path) or path.parent
        root = self._root_of(folder)
        told = _relative(path, root)
        if is_folder:
            own = _rules_of(self._own, root, OWN_RULES)
            excluded = own.ignored(told, is_folder=True) or self._globs.ignored(_relative(path, folder), is_folder=True)
        else:
            excluded = self.of_name(path) is not None
        if excluded:
            return True
        git = _rules_of(self._git, root, GIT_RULES)
        if folder != root and git.ignored(_relative(folder, root), is_folder=True):
            # Somebody opened an ignored folder on purpose: the rules above it would hide all of it.
            git, told = _rules_of(self._git, folder, GIT_RULES), _relative(path, folder)
        return git.ignored(told, is_folder=is_folder)

    def refresh(self) -> bool:
        """Look at the ignore files again; whether any changed. Reads the disk."""
        changed = [rules.refresh() for rules in (*self._own.values(), *self._git.values())]
        self._roots.clear()
        return any(changed)

    def _folder_of(self, path: Path) -> Path | None:
        return next((folder for folder in self._folders if path.is_relative_to(folder)), None)

    def _root_of(self, folder: Path) -> Path:
        """Where nested rules begin: the top of the repository that holds `folder`, else the folder itself."""
        root = self._roots.get(folder)
        if root is None:
            tops = (above for above in (folder, *folder.parents) if os.path.lexists(above / ".git"))
            root = next(tops, folder)
            if len(self._roots) >= _MOST_ROOTS:
                self._roots.clear()
            self._roots[folder] = root
        return root


def is_rules_file(path: Path) -> bool:
    """Whether a file holds ignore rules."""
    return path.name in (OWN_RULES, GIT_RULES)


def _rules_of(known: dict[Path, IgnoreRules], root: Path, name: str) -> IgnoreRules:
    rules = known.get(root)
    if rules is None:
        if len(known) >= _MOST_ROOTS:
            known.clear()
        rules = known[root] = IgnoreRules(root, name, also=".git/info/exclude" if name == GIT_RULES else "")
    return rules


def _relative(path: Path, folder: Path | None) -> str:
    return path.relative_to(folder).as_posix() if folder is not None and path.is_relative_to(folder) else ""
