"""The checks of `midfill doctor`. Owns: what is looked at and the advice. One finding each; a check never raises."""

from __future__ import annotations

import asyncio
import enum
import importlib.metadata
import os
import platform
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

_ENOUGH_MEMORY: Final = 2_500_000_000
_ENOUGH_DISK: Final = 2_000_000_000
_PACKAGES: Final = ("torch", "transformers", "tokenizers", "pyzmq", "pygls", "msgpack")


class State(enum.StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"
    """Works, but the user should know."""
    BROKEN = "broken"


@frozen
class Finding:
    """What one check found."""

    what: str
    state: State
    found: str
    advice: str = ""
    """What to do; empty when nothing has to be done."""


def findings(
    endpoint: str = "", *, fill: bool = True, on_check: Callable[[str], None] = lambda _: None
) -> Iterator[Finding]:
    """All findings, in order. With `fill`, an engine is started if none runs."""
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("midfill", _versions),
        ("device", _device),
        ("threads", _threads),
        ("memory", _memory),
        ("settings", _settings),
        ("runtime folder", _runtime_folder),
        ("logs", _logs),
        ("models folder", _models_folder),
        ("pulled models", _pulled_models),
        ("model", _model),
        ("engine", lambda: _engine(endpoint)),
    ]
    if fill:
        checks.append(("self-test fill", lambda: _self_test(endpoint)))
    for what, check in checks:
        on_check(what)
        try:
            yield check()
        except Exception as error:  # a check that can't be made is a finding, too
            yield Finding(what, State.BROKEN, f"{type(error).__name__}: {error}", "report this, with the line at left")


def _versions() -> Finding:
    told = ", ".join(f"{package} {_version(package)}" for package in _PACKAGES)
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    state = State.OK if "missing" not in told else State.BROKEN
    advice = "" if state is State.OK else "install midfill again, in an environment of its own"
    return Finding("midfill", state, f"midfill {_version('midfill')}, {python}, {told}", advice)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def _device() -> Finding:
    import torch

    if torch.cuda.is_available():
        name, total = torch.cuda.get_device_name(0), torch.cuda.mem_get_info(0)[1]
        dtype = "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
        return Finding("device", State.OK, f"{name}, {total / 1e9:.0f} GB, {dtype}")
    flags = _cpu_flags()
    quick = "amx_bf16" in flags or "avx512_bf16" in flags
    told = f"CPU ({platform.processor() or platform.machine()}), "
    told += "bfloat16 in hardware" if quick else "no bfloat16 in hardware: float32 is the quick one"
    return Finding("device", State.OK, told)


def _cpu_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()  # no Linux: nothing is known
    return set(next((line for line in lines if line.startswith(("flags", "Features"))), "").split())


def _threads() -> Finding:
    import psutil

    physical = psutil.cpu_count(logical=False) or 0
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = f"{physical or 'unknown'} physical cores, {allowed} usable by this process"
    if allowed == 1:
        return Finding("threads", State.NOTE, told, "give this process more cores; one is slow")
    return Finding("threads", State.OK, told)


def _memory() -> Finding:
    import psutil

    memory = psutil.virtual_memory()
    told = f"{memory.available / 1e9:.1f} of {memory.total / 1e9:.1f} GB free"
    if memory.available < _ENOUGH_MEMORY:
        return Finding(
            "memory", State.NOTE, told, "the 0.5B model wants about 2 GB: close something, or use --model bundled"
        )
    return Finding("memory", State.OK, told)


def _settings() -> Finding:
    from engine.config import ConfigError, load_config
    from engine.paths import config_file

    path = config_file()
    try:
        load_config()
    except ConfigError as error:
        return Finding("settings", State.BROKEN, str(error), "correct it there; until then no engine starts")
    variables = sorted(name for name in os.environ if name.startswith("MIDFILL_"))
    told = str(path) if path.is_file() else f"{path} does not exist: defaults"
    return Finding("settings", State.OK, f"{told}{', ' + ', '.join(variables) if variables else ''}")


def _runtime_folder() -> Finding:
    from engine.paths import UnsafeFolderError, runtime_dir

    try:
        path = runtime_dir()
    except UnsafeFolderError as error:
        return Finding("runtime folder", State.BROKEN, str(error), "set MIDFILL_RUNTIME_DIR to a folder of your own")
    return Finding("runtime folder", State.OK, f"{path}, mode {stat.S_IMODE(path.stat().st_mode):04o}")


def _logs() -> Finding:
    from engine.paths import log_dir

    try:
        path = log_dir()
    except OSError as error:
        return Finding(
            "logs", State.BROKEN, f"{error.filename}: {error.strerror}", "set MIDFILL_LOG_DIR to another folder"
        )
    if not os.access(path, os.W_OK):
        return Finding("logs", State.BROKEN, f"{path} can't be written", "set MIDFILL_LOG_DIR to another folder")
    return Finding("logs", State.OK, str(path))


def _models_folder() -> Finding:
    from engine.paths import models_dir

    path = models_dir()
    there = next(folder for folder in (path, *path.parents) if folder.is_dir())
    free = shutil.disk_usage(there).free
    told = f"{path}, {free / 1e9:.1f} GB free"
    if not os.access(there, os.W_OK):
        return Finding("models folder", State.NOTE, f"{path} can't be written", "set MIDFILL_MODELS_DIR to pull models")
    if free < _ENOUGH_DISK:
        return Finding("models folder", State.NOTE, told, "a pull needs 2 GB: make room, or set MIDFILL_MODELS_DIR")
    return Finding("models folder", State.OK, told)


def _pulled_models() -> Finding:
    from engine.models.catalog import CATALOG, SMALL_NAME
    from engine.models.installed import damage, folder_of

    pulled = [known for known in CATALOG.values() if known.sha256 and folder_of(known.name).is_dir()]
    if not pulled:
        return Finding("pulled models", State.NOTE, "none", f"run: midfill model pull {SMALL_NAME}")
    for known in pulled:
        if told := damage(folder_of(known.name), deep=True):
            return Finding(
                "pulled models", State.BROKEN, f"{known.name}: {told}", f"run: midfill model pull {known.name}"
            )
    return Finding("pulled models", State.OK, f"{', '.join(known.name for known in pulled)}: every byte as pulled")


def _model() -> Finding:
    from engine.config import ConfigError, load_config
    from engine.models.catalog import SMALL_NAME
    from engine.models.resolve import Kind, ModelNotFoundError, resolve

    try:
        setting = load_config().model
        folder = resolve(setting)
    except ConfigError:
        return Finding("model", State.BROKEN, "unknown while the settings are wrong", "correct the settings")
    except ModelNotFoundError as error:
        return Finding("model", State.BROKEN, str(error), "see the line at left, or set the model to auto")
    told = f"{setting} means {folder.name} ({folder.kind}). {folder.note}"
    if folder.kind is not Kind.BUNDLED:
        return Finding("model", State.OK, told)
    advice = f"midfill model pull {SMALL_NAME}" if setting == "auto" else "set the model to auto"
    return Finding("model", State.NOTE, told, f"for real suggestions: {advice}")


def _engine(endpoint: str) -> Finding:
    from engine.commands.status import ask_status
    from engine.protocol import EngineState

    report = asyncio.run(ask_status(endpoint))
    if report is None:
        return Finding("engine", State.OK, "none runs; one is started when it is needed")
    runs = report.model.name if report.model is not None else "no model yet"
    told = f"{report.state}, {runs}, process {report.pid}, {report.resident_bytes / 1e6:.0f} MB"
    if report.state is EngineState.FAILED:
        return Finding("engine", State.BROKEN, f"{told}: {report.detail}", "midfill engine --stop; then see the log")
    if report.engine_version != _version("midfill"):
        told += f", version {report.engine_version}"
        return Finding("engine", State.NOTE, told, "an older engine still runs: midfill engine --stop")
    if report.model is not None and runs != (wanted := _wanted_model()):
        return Finding(
            "engine", State.NOTE, told, f"the settings mean {wanted} now; to change over: midfill engine --stop"
        )
    return Finding("engine", State.OK, told)


def _wanted_model() -> str:
    from engine.config import ConfigError, load_config
    from engine.models.resolve import ModelNotFoundError, resolve

    try:
        return resolve(load_config().model).name
    except (ConfigError, ModelNotFoundError):
        return "nothing that can be loaded"


def _self_test(endpoint: str) -> Finding:
    from engine.client import EngineError
    from engine.commands.errors import CommandError
    from engine.commands.trial import try_fill

    try:
        return Finding("self-test fill", State.OK, asyncio.run(try_fill(endpoint)))
    except (EngineError, CommandError) as error:
        return Finding("self-test fill", State.BROKEN, str(error), "see engine.log in the logs folder")
