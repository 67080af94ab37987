"""The errors that requests end with. Owns: their LSP codes. Must not know: who raises them."""

from __future__ import annotations

from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from engine.protocol import Failure
from lsp_server.outcomes import Nothing


def content_modified() -> JsonRpcException:
    """The document changed while the answer was computed, so the answer is for a text that is gone."""
    return JsonRpcException("the document changed meanwhile", LSPErrorCodes.ContentModified)


def request_cancelled() -> JsonRpcException:
    """Stopped: by the client, or for a newer request."""
    return JsonRpcException("the request was cancelled", LSPErrorCodes.RequestCancelled)


def request_failed(failure: Failure) -> JsonRpcException:
    """The engine could not do it; the message says why, in words for a person."""
    data = {"code": failure.code.value, "retryable": failure.retryable}
    return JsonRpcException(failure.message, LSPErrorCodes.RequestFailed, data)


def left_alone(why: Nothing) -> JsonRpcException:
    """The file is neither completed nor filled nor quoted."""
    told = "it looks like credentials" if why is Nothing.SECRET else "it is excluded by your rules"
    return JsonRpcException(f"Midfill leaves this file alone: {told}", LSPErrorCodes.RequestFailed)


def invalid_params(message: str) -> JsonRpcException:
    """The client asked for something that can't be."""
    return JsonRpcInvalidParams(message)
