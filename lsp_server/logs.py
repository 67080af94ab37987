"""The server's log. Owns: where it goes, and that no text of a document gets into it.

Must not know: what is logged. It goes to stderr, which editors keep, and to a file. pygls logs whole messages and
asyncio whole results, so their records are cut down to a fixed part and the kind of the error.
"""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Final

from lsprotocol.types import ErrorCodes
from pygls.exceptions import JsonRpcException

from engine.client import client_log

LEVELS: Final = ("debug", "info", "warning", "error")
_MAX_BYTES: Final = 2_000_000


def set_up_logs(level: str) -> None:
    """Log to stderr at `level`, and to the file."""
    root = logging.getLogger()
    root.setLevel(level.upper())
    form = logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s")
    for handler in (logging.StreamHandler(sys.stderr), _file_handler()):
        if handler is not None:
            handler.setFormatter(form)
            handler.addFilter(without_contents)
            root.addHandler(handler)
    logging.getLogger("asyncio").setLevel(logging.ERROR)


def without_contents(record: logging.LogRecord) -> bool:
    """A logging filter: whether to keep the record, made free of what messages hold."""
    origin = record.name.split(".")[0]
    if origin not in ("pygls", "cattrs", "asyncio"):
        return True
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, JsonRpcException) and error.code != ErrorCodes.InternalError:
        return False  # an answer: cancelled, outdated, refused; every keystroke makes some
    if record.levelno < logging.WARNING or "Cancel notification for unknown message" in str(record.msg):
        return False
    kind = f" ({type(error).__name__}{_place(error)})" if error is not None else ""
    fixed = "error in a callback" if origin == "asyncio" else str(record.msg).splitlines()[0]
    record.msg, record.args = f"{fixed}{kind}", None
    record.exc_info = record.exc_text = None
    return True


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _file_handler() -> logging.Handler | None:
    try:
        path = client_log("midfill-lsp")
        if path.exists() and path.stat().st_size > _MAX_BYTES:
            path.replace(path.with_suffix(".log.1"))
        path.touch(mode=0o600)
        return logging.FileHandler(Path(path), encoding="utf-8", delay=True)  # appends: windows share the file
    except OSError as error:
        sys.stderr.write(f"midfill-lsp: no log file: {error}\n")
        return None
