"""The surroundings of open documents, as the server asks for them."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import attrs
import pytest

from engine.protocol import Snippet
from lsp_server.config import ServerConfig
from lsp_server.context.context import RULES_S, Context
from lsp_server.context.watches import MOST
from lsp_server.documents import Document
from lsp_server.outcomes import Nothing
from lsp_server.positions import Point
from tests.context.conftest import Time, document, inotify_watches, write

USER = "from store import load_orders\n\n\ndef report(day):\n    orders = load_orders(day)\n    "
CURSOR = Point(5, 4)
STORE = 'def load_orders(day: str) -> list[str]:\n    """Orders of a day."""\n    return read(day)\n'


async def quoted(context: Context, target: Document, cursor: Point = CURSOR) -> tuple[Snippet, ...]:
    """What a fill quotes once all is looked at."""
    context.snippets(target, cursor)
    assert await context.settled()
    return context.snippets(target, cursor)


def opened(context: Context, path: Path, text: str | None = None) -> Document:
    made = document(path, text)
    context.opened(made)
    return made


async def test_definitions_come_from_the_index(context: Context, folder: Path) -> None:
    write(folder, "shop/store.py", STORE)
    write(folder, "shop/other.py", "def unrelated(): pass\n")
    target = opened(context, write(folder, "report.py", USER))
    context.set_folders([folder])
    assert await context.settled()
    (snippet,) = await quoted(context, target)
    assert snippet == Snippet("shop/store.py", STORE.rstrip())


async def test_an_index_that_comes_after_the_first_look(context: Context, folder: Path) -> None:
    write(folder, "shop/store.py", STORE)
    target = opened(context, write(folder, "report.py", USER))
    context.set_folders([folder])
    assert context.snippets(target, CURSOR) == ()  # before anything is built
    assert await context.settled()
    (snippet,) = await quoted(context, target)
    assert snippet.path == "shop/store.py"


async def test_definitions_come_from_open_buffers_first(context: Context, folder: Path) -> None:
    path = write(folder, "store.py", STORE)
    context.set_folders([folder])
    assert await context.settled()
    opened(context, path, STORE.replace("day: str", "day: Date"))
    (snippet,) = await quoted(context, opened(context, write(folder, "report.py", USER)))
    assert "day: Date" in snippet.text


async def test_own_far_definitions_but_never_what_is_seen(context: Context, folder: Path) -> None:
    far = STORE + "\n" * 100 + USER
    target = opened(context, write(folder, "report.py", far))
    (snippet,) = await quoted(context, target, Point(far.count("\n"), 4))
    assert snippet == Snippet("report.py", STORE.rstrip())
    near = opened(context, write(folder, "near.py", STORE + USER))
    assert not [one for one in await quoted(context, near, Point(8, 4)) if one.path == "near.py"]


async def test_edited_places_of_other_documents(context: Context, folder: Path) -> None:
    other = opened(context, write(folder, "notes.py", "\n".join(f"step_{n} = {n}" for n in range(80)) + "\n"))
    target = opened(context, write(folder, "report.py", USER))
    context.edited(other, Point(40, 3))
    (snippet,) = await quoted(context, target)
    assert snippet.path == "notes.py"
    assert snippet.text.split("\n") == [f"step_{n} = {n}" for n in range(34, 47)]


async def test_likeness(context: Context, folder: Path) -> None:
    text = "def weekly():\n    orders = parse_rows(week)\n    totals = sum_totals(orders, currency, discount)\n"
    write(folder, "weekly.py", text)
    write(folder, "noise.py", "def nothing_here(x):\n    return x\n")
    context.set_folders([folder])
    assert await context.settled()
    target = opened(context, write(folder, "daily.py", text.replace("weekly", "daily").replace("week", "day")))
    assert [one.path for one in await quoted(context, target, Point(2, 10))] == ["weekly.py"]


async def test_other_languages_are_left_out(context: Context, folder: Path) -> None:
    opened(context, write(folder, "store.ts", "export function load_orders(day) {\n}\n"))
    target = opened(context, write(folder, "report.py", USER))
    assert await quoted(context, target) == ()


# Secrets and exclusions


SECRETS = {
    ".env": "DB_KEY=abc\nload_orders=abc\n",
    "secrets.yaml": "load_orders: abc\n",
    "settings.py": "load_orders_token = 'ghp_" + "a1B2" * 9 + "'\n",
}


@pytest.mark.parametrize("name", SECRETS)
async def test_open_secrets_are_never_quoted(context: Context, folder: Path, name: str) -> None:
    secret = opened(context, write(folder, name, SECRETS[name]))
    context.edited(secret, Point(0, 1))
    assert context.why_excluded(secret) is Nothing.SECRET
    assert context.snippets(secret, Point(0, 1)) == ()
    target = opened(context, write(folder, "app.py", USER))
    assert await quoted(context, target) == ()
    assert context.why_excluded(target) is None


async def test_a_secret_line_is_not_quoted_and_the_rest_of_its_file_is(context: Context, folder: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    text = STORE + "\n" * 20 + f"def connect(): return '{token}'\n" + "\n" * 20 + "def other_part(): pass\n"
    opened(context, write(folder, "store.py", text))
    user = USER + "connect(other_part())"
    told = await quoted(context, opened(context, write(folder, "report.py", user)))
    assert token not in str(told)
    assert "def load_orders" in told[0].text
    assert "def other_part" in told[0].text


async def test_an_ignored_file_that_is_open_is_quoted(context: Context, folder: Path) -> None:
    (folder / ".git").mkdir()
    write(folder, ".gitignore", "store.py\n")
    path = write(folder, "store.py", STORE)
    context.set_folders([folder])
    target = opened(context, write(folder, "report.py", USER))
    assert await quoted(context, target) == ()
    generated = opened(context, path)
    assert context.why_excluded(generated) is None
    context.closed(target.uri)
    target = opened(context, write(folder, "report.py", USER))
    assert [one.path for one in await quoted(context, target)] == ["store.py"]


async def test_new_rules_hold_at_once(context: Context, folder: Path, clock: Time) -> None:
    write(folder, "store.py", STORE)
    context.set_folders([folder])
    assert await context.settled()
    target = opened(context, write(folder, "report.py", USER))
    assert await quoted(context, target)
    rules = write(folder, ".midfillignore", "store.py\n")
    context.files_changed([rules])
    assert context.snippets(target, CURSOR) == ()
    assert await quoted(context, target) == ()
    rules.write_text("report.py\n")
    clock.now_s += RULES_S  # nobody told of this change
    context.edited(target, Point(40, 0))
    context.snippets(target, Point(0, 0))
    assert await context.settled()
    assert context.why_excluded(target) is Nothing.EXCLUDED
    assert context.snippets(target, CURSOR) == ()


async def test_settings(context: Context, folder: Path) -> None:
    write(folder, "gen/store.py", STORE)
    context.set_folders([folder])
    target = opened(context, write(folder, "report.py", USER))
    assert await context.settled()
    assert await quoted(context, target)
    context.configure(ServerConfig(exclude=("gen/",)))
    assert await quoted(context, target) == ()
    context.configure(ServerConfig(context=False))
    assert await quoted(context, target) == ()
    secret = opened(context, write(folder, ".env", "A=b\n"))
    assert context.why_excluded(secret) is Nothing.SECRET
    context.configure(ServerConfig())
    assert await context.settled()
    assert await quoted(context, target)


async def test_what_becomes_secret_while_it_is_typed(context: Context, folder: Path) -> None:
    target = opened(context, write(folder, "local.conf", "HOST=a\n"))
    assert context.why_excluded(target) is None
    target.lines = ["HOST=a\n", "API_TOKEN=abcdefgh"]
    assert context.why_excluded(target) is Nothing.SECRET


# Life


async def test_a_slow_disk_only_means_no_snippets_yet(
    context: Context, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "store.py", STORE)
    context.set_folders([folder])
    assert await context.settled()
    go_on = threading.Event()
    read = "lsp_server.context.index.read_text_file"
    from lsp_server.context.text_file import read_text_file

    def slow(path: Path) -> object:
        assert go_on.wait(60)
        return read_text_file(path)

    monkeypatch.setattr(read, slow)
    target = opened(context, write(folder, "report.py", USER))
    assert context.snippets(target, CURSOR) == ()
    assert context.snippets(target, CURSOR) == ()
    go_on.set()
    assert await context.settled()
    assert context.snippets(target, CURSOR) != ()


async def test_closing_and_changes_on_disk(context: Context, folder: Path) -> None:
    path = write(folder, "store.py", STORE)
    context.set_folders([folder])
    store = opened(context, path, STORE.replace("Orders", "Unsaved orders"))
    target = opened(context, write(folder, "report.py", USER))
    assert "Unsaved" in (await quoted(context, target))[0].text
    context.closed(store.uri)
    context.closed("file:///never/opened")
    context.closed(target.uri)
    target = opened(context, folder / "report.py")
    assert "Unsaved" not in (await quoted(context, target))[0].text
    path.write_text(STORE.replace("Orders", "Newer orders"))
    context.files_changed([path])
    context.closed(target.uri)
    assert await context.settled()
    target = opened(context, folder / "report.py")
    assert "Newer" in (await quoted(context, target))[0].text


async def test_a_broken_index_is_done_without(context: Context, folder: Path, cache: Path) -> None:
    (cache / "index").write_text("a file where a folder should be")
    context.set_folders([folder])
    opened(context, write(folder, "store.py", STORE))
    target = opened(context, write(folder, "report.py", USER))
    assert [one.path for one in await quoted(context, target)] == ["store.py"]


async def test_documents_without_files(context: Context, folder: Path) -> None:
    target = attrs.evolve(document(folder / "x.py", USER), uri="untitled:Untitled-1", path="")
    opened(context, write(folder, "store.py", STORE))
    context.opened(target)
    context.set_folders([folder])
    assert context.why_excluded(target) is None
    assert [one.path for one in await quoted(context, target)] == ["store.py"]


@pytest.mark.parametrize(
    "text", ["", "\n", "\r\n\t", "é😀", "x" * 100_000, "f(" * 50_000, "a b " * 30_000, "a\n" * 30_000]
)
async def test_any_document(context: Context, folder: Path, text: str) -> None:
    target = opened(context, folder / "a.py", text)
    opened(context, folder / "b.py", text)
    end = Point(len(target.lines) - 1, len(target.lines[-1]))
    for point in (Point(0, 0), end):
        context.edited(target, point)
        context.snippets(target, point)
    assert await context.settled()


async def test_at_rest_there_is_no_thread(clock: Time) -> None:
    context = Context(clock)
    assert "context" not in {thread.name for thread in threading.enumerate()}
    await context.close()


async def test_it_ends(folder: Path, clock: Time) -> None:
    write(folder, "a.py", "x = 1\n")
    context = Context(clock)
    context.set_folders([folder])
    await context.close()
    assert "context" not in {thread.name for thread in threading.enumerate()}


async def changed(context: Context, monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[Path]:
    """The paths that the context learns of from now on."""
    paths: asyncio.Queue[Path] = asyncio.Queue()
    learn = context.files_changed

    def tell(told: Sequence[Path]) -> None:
        learn(told)
        for path in told:
            paths.put_nowait(path)

    monkeypatch.setattr(context, "files_changed", tell)
    context.watch_files()
    assert await context.settled()
    return paths


async def test_without_a_watching_editor_folders_in_use_are_watched(
    context: Context, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = opened(context, write(folder, "app/report.py", USER))
    write(folder, "deep/below/x.py", "")
    context.set_folders([folder])
    paths = await changed(context, monkeypatch)
    write(folder, "deep/below/x.py", "x = 1\n")  # not in use
    write(folder, "app/data.json", "{}")  # of no interest
    path = write(folder, "app/store.py", STORE)
    async with asyncio.timeout(60):
        while await paths.get() != path:
            continue
    assert await context.settled()
    assert [one.path for one in await quoted(context, target)] == ["app/store.py"]
    rules = write(folder, ".midfillignore", "store.py\n")
    async with asyncio.timeout(60):
        while await paths.get() != rules:
            continue
    assert await quoted(context, target) == ()


@pytest.mark.skipif(sys.platform != "linux", reason="watches are counted in /proc")
async def test_watches_are_few(context: Context, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context.set_folders([folder])
    await changed(context, monkeypatch)
    for n in range(40):
        opened(context, write(folder, f"part{n}/a.py", "x = 1\n"))
    assert await context.settled()
    assert 1 <= inotify_watches() <= MOST
