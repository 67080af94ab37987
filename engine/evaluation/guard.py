"""What runs inside the sandbox's process: takes limits, blocks what a test program has no need for, runs the program.

Standard library only, and no import of this project: `sandbox` passes this file's source to a bare, isolated
interpreter. Reads one JSON object from stdin; writes one JSON line to the first stdout, which the program can't see.
The audit hook is a seat belt for clumsy generated code, not a wall (CPython says so of audit hooks itself). The walls
are the limits, the other user and the namespaces, where the system grants them.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` is slow to import, and this runs once for each program
    from collections.abc import Callable
    from typing import Any

ALLOWED_WRITES = (os.devnull,)
BLOCKED = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "os.startfile",
    "os.kill",
    "os.chdir",
    "os.chroot",
    "ctypes.",
    "shutil.",
    "signal.pthread_kill",
    "resource.setrlimit",
    "resource.prlimit",
    "syslog.",
    "webbrowser.",
    "sys.addaudithook",
)
"""Beginnings of audit events that no HumanEval program needs."""
PRELOADED = (
    *("bisect", "collections", "copy", "datetime", "decimal", "fractions", "functools", "hashlib", "heapq"),
    *("itertools", "math", "operator", "random", "re", "statistics", "string", "typing"),
)
"""What programs of this kind import."""
PATH_EVENTS = (
    "os.chmod",
    "os.chown",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "os.utime",
)
"""Events that change a path: allowed below the working folder only."""


def main() -> None:
    order = json.load(sys.stdin)
    report = os.fdopen(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    told = {"nonce": order["nonce"], "end": "passed", "cause": ""}

    def leave(end: str, cause: str = "") -> None:
        told["end"], told["cause"] = end, cause
        report.write(json.dumps(told))
        report.flush()
        os._exit(0)  # no atexit handlers, no waiting for the program's threads

    signal.signal(signal.SIGXCPU, lambda *_: leave("timeout"))
    set_limits(order["limits"])
    if order["uid"]:
        for name in PRELOADED:  # the other user may not be allowed to read the standard library's folder
            importlib.import_module(name)
        os.setgroups([])
        os.setgid(order["uid"])
        os.setuid(order["uid"])
    folder = os.path.realpath(os.getcwd())  # noqa: PTH109 -  pathlib would be imported into the program's process
    try:
        code = compile(order["source"], "<program>", "exec", dont_inherit=True)
        sys.addaudithook(make_hook(folder))
        exec(code, {"__name__": "__main__", "__builtins__": __builtins__})
    except MemoryError:
        leave("memory")
    except SystemExit:
        leave("early", "SystemExit")
    except BaseException as error:
        leave("failed", type(error).__name__)
    leave("passed")


def set_limits(limits: dict[str, int]) -> None:
    """Hard limits, so that the program can't raise them again."""
    try:
        import resource
    except ImportError:
        return
    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        hard = value + 1 if name == "RLIMIT_CPU" else value  # the soft one's signal is told, the hard one's kills
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some of them
            resource.setrlimit(kind, (value, hard))


def make_hook(folder: str) -> Callable[[str, tuple[Any, ...]], None]:
    """The audit hook: raises PermissionError at what is blocked."""
    library = os.path.dirname(os.__file__)  # noqa: PTH120
    roots = tuple({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, library)})

    def inside(path: Any, tops: tuple[str, ...]) -> bool:
        if isinstance(path, int):
            return True
        real = os.path.realpath(os.fsdecode(path))
        return any(real == top or real.startswith(top.rstrip(os.sep) + os.sep) for top in tops)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            writes = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))
            if isinstance(path, int) or (isinstance(path, str) and path in ALLOWED_WRITES):
                return
            if not inside(path, (folder,) if writes else (folder, *roots)):
                raise PermissionError("outside the sandbox's folder")
        elif event.startswith(BLOCKED):
            raise PermissionError(f"{event} is blocked in the sandbox")
        elif event in PATH_EVENTS and not all(
            inside(a, (folder,)) for a in arguments if isinstance(a, (str, bytes, os.PathLike))
        ):
            raise PermissionError("outside the sandbox's folder")

    return hook


if __name__ == "__main__":
    main()
