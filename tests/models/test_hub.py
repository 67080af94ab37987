"""The model hub as a source: the real client library against a small server on this machine."""

from __future__ import annotations

import hashlib
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from engine.models.catalog import KnownModel
from engine.models.hub import HubSource
from engine.models.source import Job, SourceError
from tests.models.conftest import CONTENT


class Hub(ThreadingHTTPServer):
    """Serves one file under any name."""

    content = CONTENT

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.gets: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self._head(200, len(self.server.content))

    def do_GET(self) -> None:
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").split("-")[0])
        self.server.gets.append(f"{self.path} from {start}")
        self._head(206 if start else 200, len(self.server.content) - start)
        self.wfile.write(self.server.content[start:])

    def _head(self, status: int, n_bytes: int) -> None:
        self.send_response(status)
        self.send_header("ETag", f'"{hashlib.sha256(self.server.content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(n_bytes))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(known: KnownModel, folder: Path) -> Path:
    assert known.hub is not None
    with (folder / "lock").open("w") as lock:
        HubSource(known.hub).fetch(Job(known, folder, folder / "arrived", lock.fileno(), lambda _: None))
    return folder / "arrived"


def test_the_pinned_file_is_downloaded(hub: Hub, tiny: KnownModel, tmp_path: Path) -> None:
    assert fetch(tiny, tmp_path).read_bytes() == CONTENT
    assert len(hub.gets) == 1
    assert "owner/tiny" in hub.gets[0]


def test_another_file_is_refused_before_it_is_downloaded(hub: Hub, tiny: KnownModel, tmp_path: Path) -> None:
    hub.content = b"another"
    with pytest.raises(SourceError, match="another file than the pinned one"):
        fetch(tiny, tmp_path)
    assert hub.gets == []


def test_a_hub_that_refuses_fails_fast(tiny: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    began = time.monotonic()
    with pytest.raises(SourceError, match="can't be reached"):
        fetch(tiny, tmp_path)
    assert time.monotonic() - began < 10


def test_a_hub_that_never_answers_fails_fast(tiny: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        with pytest.raises(SourceError, match=r"can't be reached|did not answer"):
            fetch(tiny, tmp_path)
        assert time.monotonic() - began < 15
