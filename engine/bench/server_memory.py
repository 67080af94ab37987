"""Memory of `midfill-lsp` with many open files. Owns: speaking just enough of the protocol to open them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any, Final

import psutil

import engine

_N_FILES: Final = 50
_TIMEOUT_S: Final = 60.0


def server_megabytes() -> float:
    """Resident memory of the server, in MB, with fifty of our own sources open. Raises `OSError` without a server."""
    process = subprocess.Popen(
        _command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/"
    )
    assert process.stdin is not None and process.stdout is not None
    limit = threading.Timer(_TIMEOUT_S, process.kill)  # a server that hangs ends the wait for its answers
    limit.start()
    try:
        _send(process.stdin, "initialize", {"processId": os.getpid(), "rootUri": None, "capabilities": {}}, request=1)
        _receive(process.stdout, 1)
        _send(process.stdin, "initialized", {})
        sources = sorted(Path(str(engine.__file__)).parent.rglob("*.py"))
        for i in range(_N_FILES):
            text = sources[i % len(sources)].read_text(encoding="utf-8")
            document = {"uri": f"file:///bench/{i}.py", "languageId": "python", "version": 1, "text": text}
            _send(process.stdin, "textDocument/didOpen", {"textDocument": document})
        _send(process.stdin, "shutdown", None, request=2)  # answered when all before it has been taken in
        _receive(process.stdout, 2)
        return float(psutil.Process(process.pid).memory_info().rss) / 1e6
    finally:
        limit.cancel()
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _command() -> list[str]:
    beside = Path(sys.executable).with_name("midfill-lsp")
    found = str(beside) if beside.exists() else shutil.which("midfill-lsp")
    if found is None:
        raise FileNotFoundError("midfill-lsp is not installed beside this command")
    return [found]


def _send(stream: IO[bytes], method: str, params: Any, request: int | None = None) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if request is not None:
        message["id"] = request
    body = json.dumps(message).encode()
    stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    stream.flush()


def _receive(stream: IO[bytes], request: int) -> None:
    """Skip messages until the answer to `request`."""
    while True:
        length = 0
        while (line := stream.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if not length:
            raise OSError("midfill-lsp ended before it answered")
        message = json.loads(stream.read(length))
        if message.get("id") == request and "method" not in message:
            return
