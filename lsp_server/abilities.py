"""What a client can do, as it says at `initialize`. Owns: the reading of its capabilities. Must not know: what for."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from lsprotocol import types
from pygls.capabilities import get_capability

_DYNAMIC: Final = {
    types.TEXT_DOCUMENT_INLINE_COMPLETION: "text_document.inline_completion",
    types.TEXT_DOCUMENT_COMPLETION: "text_document.completion",
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: "workspace.did_change_configuration",
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: "workspace.did_change_watched_files",
}
_COMPLETION_ITEM: Final = "text_document.completion.completion_item"


@frozen
class Abilities:
    """What one client can do."""

    registers: frozenset[str] = frozenset()
    """Methods that may be registered while the server runs."""
    tells_settings: bool = False
    """It answers `workspace/configuration`."""
    takes_edits: bool = False
    """It applies edits that are bound to a document's version: nothing stale is ever applied."""
    shows_progress: bool = False
    has_code_actions: bool = False
    """Of its own kind; older clients know only commands."""
    reads_markdown: bool = False
    """In the menu of completions."""
    keeps_indentation: bool = False
    """A completion can ask to be inserted as it is."""

    @classmethod
    def of(cls, client: types.ClientCapabilities) -> Abilities:
        """What a client says that it can do."""

        def says(name: str) -> bool:
            return bool(get_capability(client, name))

        formats = get_capability(client, f"{_COMPLETION_ITEM}.documentation_format") or ()
        modes = get_capability(client, f"{_COMPLETION_ITEM}.insert_text_mode_support.value_set") or ()
        return cls(
            registers=frozenset(method for method, name in _DYNAMIC.items() if says(f"{name}.dynamic_registration")),
            tells_settings=says("workspace.configuration"),
            takes_edits=says("workspace.apply_edit") and says("workspace.workspace_edit.document_changes"),
            shows_progress=says("window.work_done_progress"),
            has_code_actions=get_capability(client, "text_document.code_action.code_action_literal_support")
            is not None,
            reads_markdown=types.MarkupKind.Markdown in formats,
            keeps_indentation=types.InsertTextMode.AsIs in modes,
        )
