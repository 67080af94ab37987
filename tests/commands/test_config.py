"""Wrong settings are told in plain words, with where they came from; right ones are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config import ConfigError, EngineConfig, load_config


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("[engin]\nthreads = 1", "unknown table [engin]; the engine's settings stand under [engine]"),
        ('model = "bundled"', "`model` stands outside a table; write it under the line [engine]"),
        ("engine = 3", "`engine` must be a table"),
        ("[engine]\nthread = 1", "did you mean `threads`?"),
        ("[engine]\nthreads = [1]", "`threads` must be a whole number, not [1]"),
        ("[engine]\nthreads = 1.7", "`threads` must be a whole number, not 1.7"),
        ("[engine]\nthreads = true", "`threads` must be a whole number, not True"),
        ('[engine]\nthreads = "many"', "`threads` must be a whole number, not 'many'"),
        ("[engine]\nthreads = 1025", "threads must be from 0 to 1024, not 1025"),
        ("[engine]\nthreads = -1", "threads must be from 0"),
        ("[engine]\ncache_mb = inf", "`cache_mb` must be a whole number"),
        ("[engine]\ncache_mb = 0", "cache_mb must be from 1"),
        ("[engine]\nidle_exit_s = nan", "idle_exit_s must be from 1 to"),
        ("[engine]\nidle_exit_s = 0.5", "idle_exit_s must be from 1 to"),
        ("[engine]\nidle_exit_s = inf", "idle_exit_s must be from 1 to"),
        ("[engine]\nidle_exit_s = {}", "`idle_exit_s` must be a number, not {}"),
        ("[engine]\nmodel = 1", "`model` must be a text, not 1"),
        ('[engine]\ndtype = "int4"', "dtype must be one of auto, float32, bfloat16, float16, not 'int4'"),
        ("[engine", "is no TOML"),
    ],
)
def test_a_mistake_is_told(tmp_path: Path, written: str, told: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(written)
    with pytest.raises(ConfigError) as raised:
        load_config(file=file)
    assert str(raised.value).startswith(str(file))
    assert told in str(raised.value)


def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read: Is a directory"):
        load_config(file=tmp_path)
    (tmp_path / "latin").write_bytes(b"[engine]\nmodel = '\xe4'")
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        load_config(file=tmp_path / "latin")


def test_the_command_line_wins_over_the_environment_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[engine]\nthreads = 2\nqueue = 3\ncache_mb = 64.0\n")
    monkeypatch.setenv("MIDFILL_QUEUE", "4")
    monkeypatch.setenv("MIDFILL_IDLE_EXIT_S", "60")
    config = load_config({"threads": 1, "device": None}, file)
    assert config == EngineConfig(threads=1, queue=4, cache_mb=64, idle_exit_s=60.0)
    monkeypatch.setenv("MIDFILL_QUEUE", "four")
    with pytest.raises(ConfigError, match="MIDFILL_QUEUE: `queue` must be a whole number, not 'four'"):
        load_config(file=file)
