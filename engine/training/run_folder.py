"""A run's folder: settings, checkpoint, journal. Owns: those files, and that none of them is ever half written.

run.json         what is trained, and how
sitting.json     how the last sitting was begun: where its model and examples lay, when it was to end
state.pt         the checkpoint: step, weights, averages, optimizers
journal.jsonl    one JSON object a line: a step's figures, or a validation's
snapshots/       averaged weights on the way, each a checkpoint that the engine loads
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from attrs import frozen


class RunError(ValueError):
    """The folder can't be used. The message names the cause and the fix."""


@frozen
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def _settings(self) -> Path:
        return self.path / "run.json"

    @property
    def _sitting(self) -> Path:
        return self.path / "sitting.json"

    @property
    def _state(self) -> Path:
        return self.path / "state.pt"

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self.path / "journal.jsonl"

    def snapshot(self, step: int) -> Path:
        """The folder of the averaged weights at `step`."""
        return self.path / "snapshots" / f"step-{step:06d}"

    @property
    def begun(self) -> bool:
        """Whether a run lies here."""
        return self._settings.exists()

    def open(self, settings: Mapping[str, Any]) -> None:
        """Take the folder for a run with these settings. Raises `RunError` when another run lies there."""
        self.path.mkdir(parents=True, exist_ok=True)
        wanted = json.loads(json.dumps(dict(settings)))
        if self._settings.exists():
            if (found := self.settings()) != wanted:
                names = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
                differ = ", ".join(f"{name}: {found.get(name)!r} there, {wanted.get(name)!r} now" for name in names)
                raise RunError(
                    f"{self.path} holds another run ({differ}); go on with its settings, or name a new folder"
                )
            return
        if any(self.path.iterdir()):
            raise RunError(f"{self.path} is not empty and holds no run; name a new folder")
        _replace(self._settings, (json.dumps(wanted, indent=2) + "\n").encode())

    def settings(self) -> dict[str, Any]:
        """What is trained here. Raises `RunError`."""
        try:
            found: dict[str, Any] = json.loads(self._settings.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError(f"{self.path} holds no run: there is no run.json") from None
        except ValueError as error:
            raise RunError(f"{self._settings} can't be read ({error})") from None
        return found

    def note_sitting(self, sitting: Mapping[str, Any]) -> None:
        """Keep how this sitting was begun. Raises `RunError`."""
        try:
            _replace(self._sitting, (json.dumps(dict(sitting), indent=2) + "\n").encode())
        except OSError as error:
            raise RunError(f"{self._sitting} can't be written ({_cause(error)})") from error

    def sitting(self) -> dict[str, Any]:
        """How the last sitting with a checkpoint was begun; empty when there was none, or nobody kept it."""
        try:
            found = json.loads(self._sitting.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the checkpoint: the old one stays until the new one is whole and on disk. Raises `RunError`."""
        fresh = self._state.with_suffix(".new")
        try:
            with fresh.open("wb") as file:
                torch.save(dict(state), file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._state)
        except (OSError, RuntimeError) as error:  # where the disk is full, torch raises an error of its own
            fresh.unlink(missing_ok=True)
            kept = "; the checkpoint before it is whole" if self._state.exists() else ""
            raise RunError(f"{self._state} can't be written ({_cause(error)}){kept}") from error

    def load(self, device: torch.device) -> dict[str, Any] | None:
        """The checkpoint; None when there is none yet. Raises `RunError`."""
        if not self._state.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(self._state, map_location=device, weights_only=True)
        except (OSError, RuntimeError, EOFError, ValueError) as error:
            told = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise RunError(f"{self._state} can't be read ({told}); remove it to begin again") from None
        return state

    def entries(self) -> list[dict[str, Any]]:
        """The journal; a last line that a crash cut off is left out."""
        found: list[dict[str, Any]] = []
        if not self.journal.exists():
            return found
        for line in self.journal.read_text(encoding="utf-8").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                break
        return found

    def cut_journal(self, step: int) -> None:
        """Forget entries of `step` and later: they came after the checkpoint and will come again."""
        kept = [entry for entry in self.entries() if entry["step"] < step]
        if self.journal.exists():
            _replace(self.journal, "".join(json.dumps(entry) + "\n" for entry in kept).encode())

    def note(self, entry: Mapping[str, Any]) -> None:
        """Append to the journal. Raises `RunError`."""
        try:
            with self.journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(dict(entry)) + "\n")
        except OSError as error:
            raise RunError(f"{self.journal} can't be written ({_cause(error)})") from error


def _cause(error: BaseException) -> str:
    """In a few words; of a chain of errors, the system's."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, OSError):
        found = found.__cause__ or found.__context__
    told = found.strerror if isinstance(found, OSError) else None
    return told or (str(error).splitlines() or [type(error).__name__])[0]


def _replace(path: Path, data: bytes) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(data)
    fresh.replace(path)
