"""An editor, seen from the server: a pytest-lsp client on the real `midfill-lsp` process, with our own messages."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import os
import sys
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import attrs
import psutil
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

COMMAND = str(Path(sys.executable).with_name("midfill-lsp"))
URI = "file:///work/example.py"
_SHUTDOWN_S = 30.0
CANCELLED, MODIFIED, FAILED, INVALID = -32800, -32801, -32803, -32602
Invoked, Automatic = types.InlineCompletionTriggerKind.Invoked, types.InlineCompletionTriggerKind.Automatic


@attrs.define
class Editor:
    """One editor window."""

    client: LanguageClient
    capabilities: types.ServerCapabilities
    server_info: types.ServerInfo
    frames: list[Any] = attrs.field(factory=list)
    """`midfill/frame` notifications, in the order of arrival."""
    statuses: list[Any] = attrs.field(factory=list)
    """`midfill/status` notifications."""
    news: asyncio.Condition = attrs.field(factory=asyncio.Condition)
    """Notified with each frame and status, and with each answer."""
    _ids: itertools.count[int] = attrs.field(factory=lambda: itertools.count(1000))
    _versions: dict[str, int] = attrs.field(factory=dict)
    _tasks: set[asyncio.Task[None]] = attrs.field(factory=set)

    @classmethod
    async def start(
        cls,
        *,
        arguments: tuple[str, ...] = (),
        options: Any = None,
        encodings: list[str] | None = None,
        process_id: int | None = None,
        progress: bool = False,
        configuration: bool | dict[str, Any] = False,
        environment: Mapping[str, str] | None = None,
        capabilities: types.ClientCapabilities | None = None,
        folders: Sequence[Path] | None = None,
    ) -> Self:
        """Start a server and initialize it. `capabilities` stand in place of what the flags say."""
        env = {**os.environ, **(environment or {})}
        client = await ClientServerConfig([COMMAND, *arguments], server_env=env).start()
        assert isinstance(client, LanguageClient)
        capabilities = capabilities or types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=encodings),  # type: ignore[arg-type]
            window=types.WindowClientCapabilities(work_done_progress=progress),
            workspace=types.WorkspaceClientCapabilities(configuration=bool(configuration)),
        )
        if isinstance(configuration, dict):
            client.set_configuration(configuration)
        editor = cls(client, types.ServerCapabilities(), types.ServerInfo(""))
        editor._listen()
        result = await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                process_id=process_id or os.getpid(),
                initialization_options=options,
                workspace_folders=workspace_folders(folders) if folders is not None else None,
            )
        )
        assert result.server_info is not None
        editor.capabilities, editor.server_info = result.capabilities, result.server_info
        return editor

    async def stop(self) -> None:
        """Shut the server down as an editor does; kill it where it doesn't answer, as in a test that was given up."""
        if self.process.returncode is None:
            try:
                await asyncio.wait_for(self.client.shutdown_session(), _SHUTDOWN_S)
            except TimeoutError:
                self.process.kill()
        await self.client.stop()

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The server's process."""
        assert self.client._server is not None
        return self.client._server

    def resident_mb(self) -> float:
        """Memory that the server holds."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6

    def open(self, text: str, uri: str = URI, language: str = "python") -> None:
        """Open a document."""
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, language, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def close(self, uri: str = URI) -> None:
        """Close a document."""
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def replace(self, start: tuple[int, int], end: tuple[int, int], text: str, uri: str = URI) -> None:
        """Edit a document."""
        self._versions[uri] += 1
        place = types.Range(types.Position(*start), types.Position(*end))
        change = types.TextDocumentContentChangePartial(range=place, text=text)
        identifier = types.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def insert(self, line: int, character: int, text: str, uri: str = URI) -> None:
        """Type."""
        self.replace((line, character), (line, character), text, uri)

    def ask(
        self,
        line: int,
        character: int,
        *,
        kind: types.InlineCompletionTriggerKind = Automatic,
        token: str | None = None,
        uri: str = URI,
    ) -> Ask:
        """Ask for a completion; await `answer`."""
        params = types.InlineCompletionParams(
            context=types.InlineCompletionContext(kind),
            text_document=types.TextDocumentIdentifier(uri),
            position=types.Position(line, character),
            work_done_token=token,
        )
        return self.request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params)

    def fill(self, line: int, character: int, *, uri: str = URI, **more: Any) -> Ask:
        """Ask for a fill at a position."""
        position = {"line": line, "character": character}
        return self.request("midfill/fill", {"textDocument": {"uri": uri}, "position": position, **more})

    def fill_range(self, start: tuple[int, int], end: tuple[int, int], *, uri: str = URI, **more: Any) -> Ask:
        """Ask for a fill in place of a range."""
        ends = {"start": dict(zip(_KEYS, start, strict=True)), "end": dict(zip(_KEYS, end, strict=True))}
        return self.request("midfill/fill", {"textDocument": {"uri": uri}, "range": ends, **more})

    def request(self, method: str, params: Any = None) -> Ask:
        """Send any request."""
        message_id = next(self._ids)
        future = self.client.protocol.send_request(method, params, msg_id=message_id)
        ask = Ask(self, message_id, _follower(future))
        ask.answer.add_done_callback(lambda _: self._background(self._tell()))
        return ask

    def change_folders(self, added: Sequence[Path] = (), removed: Sequence[Path] = ()) -> None:
        """Add folders to the workspace, or take them out."""
        event = types.WorkspaceFoldersChangeEvent(*([_folder(path) for path in paths] for paths in (added, removed)))
        params = types.DidChangeWorkspaceFoldersParams(event)
        self.client.workspace_did_change_workspace_folders(params)

    async def until_frames(self, n: int) -> list[Any]:
        """Wait until `n` frames have come, in all."""
        async with self.news:
            await self.news.wait_for(lambda: len(self.frames) >= n)
        return self.frames

    async def until_status(self, state: str) -> Any:
        """Wait until the server has told of a state."""
        async with self.news:
            await self.news.wait_for(lambda: any(status.state == state for status in self.statuses))
        return next(status for status in self.statuses if status.state == state)

    def _listen(self) -> None:
        @self.client.feature("midfill/frame")
        async def frame(params: Any) -> None:
            await self._note(self.frames, params)

        @self.client.feature("midfill/status")
        async def status(params: Any) -> None:
            await self._note(self.statuses, params)

    async def _tell(self) -> None:
        async with self.news:
            self.news.notify_all()

    def _background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _note(self, notes: list[Any], params: Any) -> None:
        async with self.news:
            notes.append(params)
            self.news.notify_all()


def _follower(future: concurrent.futures.Future[Any]) -> asyncio.Future[Any]:
    """Its result for the loop, and no way back: the client breaks when the answer to a cancelled future comes."""
    follower = asyncio.get_running_loop().create_future()

    def follow(done: concurrent.futures.Future[Any]) -> None:
        if follower.done():
            return
        if (error := done.exception()) is not None:
            follower.set_exception(error)
        else:
            follower.set_result(done.result())

    future.add_done_callback(follow)
    return follower


def _folder(path: Path) -> types.WorkspaceFolder:
    return types.WorkspaceFolder(path.as_uri(), path.name)


_KEYS = ("line", "character")


@attrs.define
class Ask:
    """A request under way."""

    editor: Editor
    message_id: int
    answer: asyncio.Future[Any]

    def cancel(self) -> None:
        """Send `$/cancelRequest`."""
        self.editor.client.cancel_request(types.CancelParams(id=self.message_id))

    async def items(self) -> list[tuple[str, types.Range]]:
        """The completion items as text and range."""
        result = await self.answer
        return [] if result is None else [(item.insert_text, item.range) for item in result.items]

    async def texts(self) -> list[str]:
        """The texts of the completion items."""
        return [text for text, _ in await self.items()]

    async def error(self) -> JsonRpcException:
        """The error that it ends with."""
        try:
            result = await self.answer
        except JsonRpcException as error:
            return error
        raise AssertionError(f"no error but {result}")

    async def error_code(self) -> int | None:
        """The code of the error that it ends with; None when it ends well."""
        try:
            await self.answer
        except JsonRpcException as error:
            return error.code
        return None


def workspace_folders(folders: Iterable[Path]) -> list[types.WorkspaceFolder]:
    """As an editor names them."""
    return [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]


def text_of(frame: Any) -> str:
    """The text that a frame shows."""
    return "".join(span.text for span in frame.spans)
