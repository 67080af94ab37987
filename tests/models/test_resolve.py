"""What the `model` setting means, and what is said when it means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.catalog import CATALOG, SMALL_NAME
from engine.models.installed import Record, StoredFile, folder_of, sha256_of, write_record
from engine.models.resolve import Kind, ModelNotFoundError, resolve


@pytest.fixture(autouse=True)
def _models_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDFILL_MODELS_DIR", str(tmp_path / "models"))


def make_pulled(name: str = SMALL_NAME) -> Path:
    folder = folder_of(name)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    files = {path.name: StoredFile(path.stat().st_size, sha256_of(path)) for path in folder.iterdir()}
    write_record(folder, Record(name, "a test", "0" * 64, "Apache-2.0", "nothing", files))
    return folder


def test_auto_is_the_bundled_model_on_a_fresh_machine() -> None:
    found = resolve("auto")
    assert (found.name, found.kind) == ("bundled", Kind.BUNDLED)
    assert (found.path / "config.json").is_file()
    assert "no help to a user" in found.note


def test_auto_is_the_pulled_model_once_there_is_one() -> None:
    folder = make_pulled()
    for asked in ("auto", SMALL_NAME):
        found = resolve(asked)
        assert (found.name, found.kind, found.path, found.source) == (SMALL_NAME, Kind.PULLED, folder, "a test")
    assert resolve("bundled").kind is Kind.BUNDLED


def test_a_model_brings_its_gate_along_however_long_ago_it_was_pulled() -> None:
    make_pulled()
    assert resolve(SMALL_NAME).least_probability == CATALOG[SMALL_NAME].least_probability == 0.5
    assert resolve("bundled").least_probability == 0.0, "its gate is open: nothing that it makes is probable"


def test_a_damaged_pulled_model_is_an_error_that_names_the_fix() -> None:
    (make_pulled() / "model.safetensors").write_bytes(b"half")
    for asked in ("auto", SMALL_NAME):
        with pytest.raises(ModelNotFoundError, match=r"4 bytes instead of 7.*midfill model pull"):
            resolve(asked)


def test_a_pulled_folder_without_its_record_is_damaged() -> None:
    (make_pulled() / "midfill.json").write_text("{")
    with pytest.raises(ModelNotFoundError, match="damaged"):
        resolve("auto")


def test_a_path_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model-00001-of-00002.safetensors").write_bytes(b"")
    found = resolve(str(folder))
    assert (found.name, found.kind, found.path) == ("mine", Kind.PATH, folder.resolve())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        ("nothing", "neither a known name"),
        ("file", "is a file"),
        ("empty", r"no config\.json"),
        ("weightless", "no weights"),
    ],
)
def test_what_is_no_model_is_told_apart(tmp_path: Path, make: str, told: str) -> None:
    path = tmp_path / make
    if make == "file":
        path.write_text("")
    elif make != "nothing":
        path.mkdir()
    if make == "weightless":
        (path / "config.json").write_text("{}")
    with pytest.raises(ModelNotFoundError, match=told):
        resolve(str(path))


def test_a_known_model_that_is_not_here_names_the_command() -> None:
    with pytest.raises(ModelNotFoundError, match=f"midfill model pull {SMALL_NAME}"):
        resolve(SMALL_NAME)
