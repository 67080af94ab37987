"""What is offered to which client: fixed, registered later, taken back; with the real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from lsp_server.abilities import Abilities
from lsp_server.config import DEFAULTS, ServerConfig
from lsp_server.offers import later
from tests.clients.conftest import StartDesk

COMPLETION, INLINE = types.TEXT_DOCUMENT_COMPLETION, types.TEXT_DOCUMENT_INLINE_COMPLETION
SETTINGS, FILES = types.WORKSPACE_DID_CHANGE_CONFIGURATION, types.WORKSPACE_DID_CHANGE_WATCHED_FILES

PLAIN = types.ClientCapabilities(general=types.GeneralClientCapabilities())
EDITS = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        apply_edit=True, workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    )
)
DYNAMIC = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        completion=types.CompletionClientCapabilities(dynamic_registration=True),
        inline_completion=types.InlineCompletionClientCapabilities(dynamic_registration=True),
    ),
    workspace=types.WorkspaceClientCapabilities(
        configuration=True,
        did_change_configuration=types.DidChangeConfigurationClientCapabilities(dynamic_registration=True),
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
    ),
)


async def test_a_client_that_can_do_little(start_desk: StartDesk) -> None:
    desk = await start_desk(capabilities=PLAIN)
    offered = desk.capabilities
    assert offered.inline_completion_provider and offered.completion_provider is None
    assert offered.code_action_provider is None and offered.notebook_document_sync is None
    assert offered.execute_command_provider is not None
    assert list(offered.execute_command_provider.commands) == ["midfill.restart", "midfill.status"]
    await desk.request("midfill/status").answer
    assert desk.registered == {}


async def test_a_client_that_takes_edits(start_desk: StartDesk) -> None:
    offered = (await start_desk(capabilities=EDITS, options={"plainCompletion": True})).capabilities
    assert offered.completion_provider is not None
    assert offered.execute_command_provider is not None and "midfill.fill" in offered.execute_command_provider.commands
    assert isinstance(offered.code_action_provider, types.CodeActionOptions)
    assert list(offered.code_action_provider.code_action_kinds or ()) == [types.CodeActionKind.RefactorRewrite]


async def test_registered_once_the_settings_are_known(start_desk: StartDesk, tmp_path: Path) -> None:
    desk = await start_desk(
        capabilities=DYNAMIC, folders=[tmp_path], configuration={"midfill": {"plainCompletion": True}}
    )
    assert desk.capabilities.inline_completion_provider is None and desk.capabilities.completion_provider is None
    await desk.until_registered(INLINE, COMPLETION, SETTINGS, FILES)
    assert desk.n_registrations == 1
    assert desk.registered[SETTINGS].register_options == {"section": "midfill"}


async def test_taken_back_when_the_settings_change(start_desk: StartDesk, tmp_path: Path) -> None:
    desk = await start_desk(capabilities=DYNAMIC, folders=[tmp_path])
    await desk.until_registered(INLINE, SETTINGS, FILES)
    desk.configure({"midfill": {"plainCompletion": True, "context": False}})
    await desk.until_registered(INLINE, SETTINGS, COMPLETION)
    desk.configure({"midfill": {"enabled": False}})  # by hand it still completes
    await desk.until_registered(INLINE, SETTINGS, FILES)
    assert desk.client.messages == []


async def test_folders_come_and_go(start_desk: StartDesk, tmp_path: Path) -> None:
    desk = await start_desk(capabilities=DYNAMIC, folders=[])
    await desk.until_registered(INLINE, SETTINGS)
    folder = types.WorkspaceFolder(tmp_path.as_uri(), "here")
    change = types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([folder], []))
    desk.client.workspace_did_change_workspace_folders(change)
    await desk.until_registered(INLINE, SETTINGS, FILES)
    change = types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([], [folder]))
    desk.client.workspace_did_change_workspace_folders(change)
    await desk.until_registered(INLINE, SETTINGS)


@pytest.mark.parametrize(
    ("config", "has_folders", "methods"),
    [
        (DEFAULTS, True, {INLINE, SETTINGS, FILES}),
        (DEFAULTS, False, {INLINE, SETTINGS}),
        (ServerConfig(plain_completion=True, context=False), True, {INLINE, SETTINGS, COMPLETION}),
        (ServerConfig(enabled=False), False, {INLINE, SETTINGS}),
    ],
)
def test_what_is_wanted_later(config: ServerConfig, has_folders: bool, methods: set[str]) -> None:
    assert set(later(Abilities.of(DYNAMIC), config, has_folders=has_folders)) == methods
    assert later(Abilities.of(PLAIN), config, has_folders=has_folders) == {}
