"""The workspace: its folders, and files that change on disk. Here others learn of both."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from lsp_server.server import MidfillServer


def folders_of(params: types.InitializeParams) -> tuple[Path, ...]:
    """The workspace's folders at the start. Older clients have one root."""
    if params.workspace_folders is not None:
        return _paths(folder.uri for folder in params.workspace_folders)
    if params.root_uri is not None:
        return _paths([params.root_uri])
    return (Path(params.root_path),) if params.root_path else ()


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_folders(ls: MidfillServer, params: types.DidChangeWorkspaceFoldersParams) -> None:
        removed = set(_paths(folder.uri for folder in params.event.removed))
        kept = [folder for folder in ls.folders if folder not in removed]
        ls.set_folders((*kept, *_paths(folder.uri for folder in params.event.added)))
        ls.offer()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(ls: MidfillServer, params: types.DidChangeWatchedFilesParams) -> None:
        ls.context.files_changed(_paths(change.uri for change in params.changes))


def _paths(uris: Iterable[str]) -> tuple[Path, ...]:
    """Those that are on this machine's disk, each once."""
    return tuple(dict.fromkeys(Path(path) for uri in uris if (path := to_fs_path(uri))))
