"""`workspace/executeCommand` and code actions: `midfill.fill`, `midfill.restart`, `midfill.status` for any client."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from engine.client import EngineError
from lsp_server.documents import Document
from lsp_server.failures import invalid_params
from lsp_server.fill_request import fill_asked, fill_result
from lsp_server.fills import Asked
from lsp_server.offers import FILL_COMMAND, RESTART_COMMAND, STATUS_COMMAND
from lsp_server.protocol_types import FillParams, Status
from lsp_server.server import MidfillServer

_KIND = types.CodeActionKind.RefactorRewrite
_TYPED_ON = (types.LSPErrorCodes.ContentModified, types.LSPErrorCodes.RequestCancelled)


def register(server: MidfillServer) -> None:
    """Add the handlers."""

    @server.command(FILL_COMMAND)
    def fill(ls: MidfillServer, *arguments: Any) -> None:
        if len(arguments) != 1:
            raise invalid_params(f"{FILL_COMMAND} takes one argument: the parameters of midfill/fill")
        params = ls.protocol.read(arguments[0], FillParams)
        asked = fill_asked(ls.document(params.text_document.uri), params, ls.config)
        ls.jobs.start("Midfill: filling", _fill(ls, asked), visibly=ls.client.shows_progress)

    @server.command(RESTART_COMMAND)
    def restart(ls: MidfillServer, *_: Any) -> None:
        ls.jobs.start("Midfill: restarting the engine", _restart(ls), visibly=False)  # loading has its own progress

    @server.command(STATUS_COMMAND)
    def status(ls: MidfillServer, *_: Any) -> None:
        ls.tell(in_words(ls.status()))

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([_KIND]))
    def code_action(ls: MidfillServer, params: types.CodeActionParams) -> list[types.CodeAction | types.Command] | None:
        context = params.context
        if context.trigger_kind is types.CodeActionTriggerKind.Automatic:
            return None  # it would put a light bulb on every line
        if context.only is not None and not any(_covers(kind) for kind in context.only):
            return None
        document = ls.document(params.text_document.uri)
        place = ls.protocol.written(params.range)
        offered = [_offer(document, "Midfill: fill here", position=place["start"])]
        if place["start"] != place["end"]:
            # Both: where a cursor is a selection of one character, as in Helix, "here" may be meant.
            offered.append(_offer(document, "Midfill: fill the selection", range=place))
        if not ls.client.has_code_actions:
            return list(offered)
        return [types.CodeAction(one.title, _KIND, command=one) for one in offered]


def in_words(status: Status) -> str:
    """A status as a sentence for a person."""
    if status.model is not None:
        return f"Midfill: {status.state}, with the model {status.model}. {status.note or ''}".rstrip()
    return f"Midfill: {status.state}" + (f": {status.message}" if status.message else "")


def _offer(document: Document, title: str, **target: Any) -> types.Command:
    about = {"textDocument": {"uri": document.uri, "version": document.version}}
    return types.Command(title=title, command=FILL_COMMAND, arguments=[{**about, **target}])


def _covers(kind: types.CodeActionKind | str) -> bool:
    """Whether a client that asks for `kind` wants ours: kinds are a hierarchy."""
    name = kind.value if isinstance(kind, types.CodeActionKind) else kind
    return name == "" or _KIND.value == name or _KIND.value.startswith(name + ".")


async def _fill(ls: MidfillServer, asked: Asked) -> None:
    try:
        result = fill_result(asked, *await ls.fills.run(asked))
    except EngineError as error:
        ls.tell(f"Midfill could not fill: {error}", types.MessageType.Error)
        return
    except JsonRpcException as error:
        if error.code not in _TYPED_ON:
            ls.tell(error.message, types.MessageType.Warning)
        return
    text = result.candidates[0].text if result.candidates else ""
    if not text.strip():
        ls.tell("Midfill: the model has nothing to say here")
        return
    edit = types.TextDocumentEdit(
        types.OptionalVersionedTextDocumentIdentifier(result.uri, result.version), [types.TextEdit(result.range, text)]
    )
    params = types.ApplyWorkspaceEditParams(types.WorkspaceEdit(document_changes=[edit]), "Midfill: fill")
    try:
        done = await ls.workspace_apply_edit_async(params)
    except JsonRpcException as error:
        ls.tell(f"Midfill: the editor did not take the text: {error.message}", types.MessageType.Warning)
        return
    if not done.applied:
        why = f": {done.failure_reason}" if done.failure_reason else ""
        ls.tell(f"Midfill: the editor did not take the text{why}", types.MessageType.Warning)


async def _restart(ls: MidfillServer) -> None:
    try:
        await ls.link.restart()
    except EngineError as error:
        ls.tell(f"Midfill could not restart the engine: {error}", types.MessageType.Error)
        return
    ls.tell(in_words(ls.status()))
