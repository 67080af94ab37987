"""Real folders, and open documents without an editor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol.types import PositionEncodingKind

from lsp_server.context.context import Context
from lsp_server.context.languages import language_of
from lsp_server.documents import Document
from lsp_server.line_ends import split_lines

Clock = Callable[[float], None]


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where indexes go."""
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("MIDFILL_CACHE_DIR", str(path))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """An empty workspace folder."""
    path = tmp_path / "workspace"
    path.mkdir()
    yield path


def write(folder: Path, name: str, text: str) -> Path:
    """A file, with the folders above it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def document(path: Path, text: str | None = None) -> Document:
    """An open document; its text is the file's unless told otherwise."""
    text = path.read_text(encoding="utf-8") if text is None else text
    lines = split_lines(text)
    return Document(path.as_uri(), language_of(path.name), 1, PositionEncodingKind.Utf16, lines)


def inotify_watches() -> int:
    """The inotify watches of this process."""
    count = 0
    for info in Path("/proc/self/fdinfo").iterdir():
        try:
            count += info.read_text().count("inotify wd:")
        except OSError:  # closed meanwhile
            continue
    return count


class Time:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Time:
    """The context's clock."""
    return Time()


@pytest_asyncio.fixture
async def context(clock: Time) -> AsyncIterator[Context]:
    """A context."""
    made = Context(clock)
    yield made
    await made.close()
