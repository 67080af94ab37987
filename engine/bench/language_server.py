"""A `midfill-lsp` process and just enough of the protocol to speak with it. Owns: the process, its messages.

Must not know: what is asked. Answers and notifications are handed on in the order in which they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import psutil

_LIMIT_S: Final = 60.0
"""For the first answer and the last."""

OnAnswer = Callable[[Any, Any], None]
"""Called with result and error; one of them is None, or both."""


class LanguageServer:
    """One editor window's server, seen from the editor."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.on_notification: Callable[[str, Any], None] = lambda method, params: None
        self.n_doubled = 0
        """Answers to requests that were answered before, or never sent."""
        self._process = process
        self._ids = itertools.count(1)
        self._open: dict[int, OnAnswer] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, options: Any = None, environment: Mapping[str, str] | None = None) -> LanguageServer:
        """Start one and initialize it. Raises `OSError` without one."""
        process = await asyncio.create_subprocess_exec(
            _command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd="/",
            env={**os.environ, **(environment or {})},
        )
        server = cls(process)
        try:
            given = {"processId": os.getpid(), "rootUri": None, "capabilities": {}, "initializationOptions": options}
            await server.request("initialize", given)
            server.notify("initialized", {})
        except BaseException:
            await server.stop()
            raise
        return server

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def ask(self, method: str, params: Any, on_answer: OnAnswer) -> int:
        """Send a request; its id."""
        request = next(self._ids)
        self._open[request] = on_answer
        self._send({"id": request, "method": method, "params": params})
        return request

    async def request(self, method: str, params: Any) -> Any:
        """Send a request and wait for its result. Raises `OSError` when there is none."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def take(result: Any, error: Any) -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(OSError(f"midfill-lsp answered {method} with an error: {error.get('message')}"))

        self.ask(method, params, take)
        ended = [answer, self._reading]
        await asyncio.wait(ended, timeout=_LIMIT_S, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise OSError(
                f"midfill-lsp {'ended' if self._reading.done() else 'was silent'} before it answered {method}"
            )
        return answer.result()

    def resident_mb(self) -> float:
        """Its memory."""
        return float(psutil.Process(self._process.pid).memory_info().rss) / 1e6

    def busy_ms(self) -> float:
        """How long its event loop has worked, without waits for a core; where that isn't told, the whole process."""
        try:
            nanoseconds = Path(f"/proc/{self._process.pid}/schedstat").read_text("ascii").split()[0]
            return int(nanoseconds) / 1e6
        except (OSError, ValueError, IndexError):
            used = psutil.Process(self._process.pid).cpu_times()
            return float(used.user + used.system) * 1000

    async def stop(self) -> None:
        """End it as an editor does, or by force where that fails."""
        with contextlib.suppress(OSError):
            await self.request("shutdown", None)
            self.notify("exit", None)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _LIMIT_S)
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        self._reading.cancel()
        await asyncio.wait([self._reading])

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await stream.readuntil(b"\r\n\r\n")
                length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:")
                self._take(json.loads(await stream.readexactly(length)))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            on_answer = self._open.pop(message["id"], None)
            if on_answer is None:
                self.n_doubled += 1
            else:
                on_answer(message.get("result"), message.get("error"))
        elif "id" in message:
            self._send({"id": message["id"], "result": _polite(message)})
        else:
            self.on_notification(message["method"], message.get("params"))


def _polite(request: dict[str, Any]) -> Any:
    """What an editor without special abilities answers to a server's request."""
    if request["method"] == "workspace/configuration":
        return [None] * len(request["params"]["items"])
    return None


def _command() -> str:
    beside = Path(sys.executable).with_name("midfill-lsp")
    found = str(beside) if beside.exists() else shutil.which("midfill-lsp")
    if found is None:
        raise FileNotFoundError("midfill-lsp is not installed beside this command")
    return found
