"""Records: what came of one case with one model, kept as JSON lines. Owns: the files of an output folder.

A record is written as soon as its case is done, so that an interrupted run can go on. Must not know: the engine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import asdict, frozen

from engine.evaluation.cases import CaseSet, Kind

_SAMPLE: Final = "sample.json"


class RecordError(ValueError):
    """The output folder can't be used. The message says why."""


@frozen
class Record:
    """One case, done."""

    case_set: CaseSet
    case_id: str
    kind: Kind
    text: str
    """As it went into the hole."""
    exact: bool
    similarity: float
    end: str
    """`sandbox.End` of the test program; empty where the case has none."""
    cause: str
    max_lines: int
    max_tokens: int
    reason: str
    """Why the fill stopped; `error: code` when the engine refused it."""
    n_tokens: int
    n_steps: int
    n_forward_passes: int
    total_ms: float
    score: float | None = None
    """Mean log-probability per token of the text, in nats; None where nobody said."""

    @property
    def probability(self) -> float | None:
        """As `protocol.Candidate.probability`."""
        return None if self.score is None else math.exp(min(0.0, self.score * self.n_tokens))


@frozen
class Training:
    """How much training a model has had, as its checkpoint says."""

    run: str
    """Checkpoints of one run are one line over training time."""
    step: int
    seconds: float
    canvases: int = 0


@frozen
class About:
    """Who filled, for the report."""

    name: str
    baseline: bool
    engine_version: str = ""
    device: str = ""
    dtype: str = ""
    n_parameters: int = 0
    note: str = ""
    least_probability: float = 0.0
    """The model's gate (see `gate`); 0.0: it has none."""
    machine: str = ""
    sandbox: str = ""
    variant: str = ""
    """How the model was run where that was chosen: `verified`, `no copies`, ..."""
    training: Training | None = None
    """None: the checkpoint does not say."""

    @property
    def label(self) -> str:
        """As a row of the report is called; rows of their own have labels of their own."""
        name = f"{self.training.run} step {self.training.step}" if self.training else self.name
        return f"{name}, {self.variant}" if self.variant else name


class Store:
    """The folder of one row's records: `about.json` and one JSON-lines file for each set."""

    def __init__(self, out: Path, label: str) -> None:
        self.folder = out / (re.sub(r"[^\w.+-]+", "-", label).strip("-") or "model")

    def write_about(self, about: About) -> None:
        """Say who fills."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "about.json").write_text(json.dumps(asdict(about), indent=2) + "\n", encoding="utf-8")

    def read(self, case_set: CaseSet) -> dict[str, Record]:
        """Records by case, the newest of each. A last line cut short by an interruption is dropped from the file."""
        file = self._file(case_set)
        if not file.exists():
            return {}
        data = file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            file.write_bytes(whole)
        records: dict[str, Record] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                record = cattrs.structure(json.loads(line), Record)
            except Exception as error:  # cattrs groups the causes
                raise RecordError(f"{file}:{number}: not a record of this version ({type(error).__name__})") from None
            records[record.case_id] = record
        return records

    def append(self, record: Record) -> None:
        """Keep one record."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._file(record.case_set).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(record), ensure_ascii=True) + "\n")

    def _file(self, case_set: CaseSet) -> Path:
        return self.folder / f"{case_set}.jsonl"


def training_of(model: str) -> Training | None:
    """What a checkpoint folder says about its training; None for a name, or where it says nothing."""
    path = Path(model).expanduser().resolve()
    try:
        told = json.loads((path / "midfill.json").read_text(encoding="utf-8"))["training"]
        run = path.parents[1].name if path.parent.name == "snapshots" else path.name
        return Training(run, int(told["step"]), float(told["seconds"]), int(told.get("canvases", 0)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def claim(out: Path, seed: int) -> None:
    """Make the output folder this seed's. Raises `RecordError` when it holds another sample."""
    if (out / _SAMPLE).exists():
        held = seed_of(out)
        if held != seed:
            raise RecordError(f"{out} holds results of seed {held}; name another folder for seed {seed}")
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / _SAMPLE).write_text(json.dumps({"seed": seed}) + "\n", encoding="utf-8")
    except OSError as error:
        raise RecordError(f"{out} can't be written: {error}") from None


def seed_of(out: Path) -> int:
    """The seed whose sample an output folder holds."""
    try:
        return int(json.loads((out / _SAMPLE).read_text(encoding="utf-8"))["seed"])
    except FileNotFoundError:
        raise RecordError(f"{out} holds no results yet") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise RecordError(f"{out / _SAMPLE} is damaged; name another folder") from None


def read_all(out: Path) -> Iterator[tuple[About, dict[CaseSet, dict[str, Record]]]]:
    """Everyone's records in an output folder."""
    for file in sorted(out.glob("*/about.json")):
        try:
            values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            about = cattrs.structure(values, About)
        except Exception as error:  # as in `Store.read`
            raise RecordError(f"{file}: not of this version ({type(error).__name__})") from None
        store = Store(out, about.label)
        yield about, {case_set: store.read(case_set) for case_set in CaseSet}
