"""What a run has found so far, as one JSON file that is whole at any moment. Owns: that file. Standard library only.

The run and its sections are processes, one after the other: each reads the file, adds to it, and replaces it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Record:
    """The findings, by section."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Any]:
        """All that was found."""
        try:
            found: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found

    def put(self, section: str, **values: Any) -> None:
        """Set values of a section."""
        found = self.read()
        found.setdefault(section, {}).update(values)
        self._write(found)

    def add(self, section: str, name: str, row: Any) -> None:
        """Append a row to a list of a section."""
        found = self.read()
        found.setdefault(section, {}).setdefault(name, []).append(row)
        self._write(found)

    def _write(self, found: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.path)
