"""Packing messages. Owns: their form on the wire, and what is refused. Must not know: sockets, what messages mean.

A message is one msgpack map: `protocol` (the version), `type`, and the fields. Decoding is strict: a wrong type, an
unknown field or version, or too many bytes raise `ProtocolError`.
"""

from __future__ import annotations

import enum
from typing import Any, Final, get_args, get_origin

import cattrs
import msgpack
from attrs import fields

from engine.protocol import (
    MAX_MESSAGE_BYTES,
    PROTOCOL,
    Cancel,
    EngineState,
    ErrorCode,
    Failure,
    Family,
    Fill,
    Frame,
    Hello,
    Loading,
    Message,
    Priority,
    Reason,
    Reply,
    Request,
    Result,
    Shutdown,
    Status,
    StatusReport,
    Welcome,
)

REQUESTS: Final[dict[str, type[Any]]] = {
    "hello": Hello,
    "fill": Fill,
    "cancel": Cancel,
    "status": Status,
    "shutdown": Shutdown,
}
REPLIES: Final[dict[str, type[Any]]] = {
    "welcome": Welcome,
    "loading": Loading,
    "frame": Frame,
    "result": Result,
    "error": Failure,
    "status_report": StatusReport,
}
_NAMES: Final = {cls: name for name, cls in (*REQUESTS.items(), *REPLIES.items())}


class ProtocolError(ValueError):
    """A message could not be read. `request_id` is filled in where the message still told it."""

    def __init__(self, code: ErrorCode, message: str, request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


def _strict(kind: type) -> Any:
    """A structure hook that takes exactly `kind`: cattrs would turn 5 into "5" and "5" into 5."""

    def structure(value: object, _: object) -> object:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise TypeError(f"expected {kind.__name__}, got {type(value).__name__}")

    return structure


_converter = cattrs.Converter(forbid_extra_keys=True)


def _strict_enum(kind: type[enum.Enum]) -> Any:
    """As `_strict`, for an enum, which would else be taken for the plain type that it extends."""

    def structure(value: object, _: object) -> object:
        if type(value) not in (str, int):
            raise TypeError(f"expected one of {', '.join(repr(one.value) for one in kind)}")
        return kind(value)

    return structure


for _plain in (str, int, float, bool):
    _converter.register_structure_hook(_plain, _strict(_plain))
for _enum in (Family, Reason, Priority, ErrorCode, EngineState):
    _converter.register_structure_hook(_enum, _strict_enum(_enum))


def _strict_tuple(kind: Any) -> Any:
    """As `_strict`, for `tuple[X, ...]`: cattrs would take any iterable, so a string too."""
    (item, _) = get_args(kind)

    def structure(value: object, _: object) -> object:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, got {type(value).__name__}")
        return tuple(_converter.structure(one, item) for one in value)

    return structure


def _is_tuple(kind: Any) -> bool:
    origin: object = get_origin(kind)
    return origin is tuple


_converter.register_structure_hook_factory(_is_tuple, _strict_tuple)


def pack(message: Message) -> bytes:
    """Message to bytes."""
    body = _converter.unstructure(message)
    named = {"protocol": PROTOCOL, "type": _NAMES[type(message)], **body}
    return bytes(msgpack.packb(named, unicode_errors="surrogatepass"))  # editors do send lone surrogates


def unpack_request(data: bytes) -> Request:
    """Bytes that a client sent to a message. Raises `ProtocolError`."""
    message: Request = _unpack(data, REQUESTS)
    return message


def unpack_reply(data: bytes) -> Reply:
    """Bytes that the engine sent to a message. Raises `ProtocolError`."""
    message: Reply = _unpack(data, REPLIES)
    return message


def _unpack(data: bytes, types: dict[str, type[Any]]) -> Any:
    if len(data) > MAX_MESSAGE_BYTES:
        raise ProtocolError(ErrorCode.TOO_LARGE, f"message of {len(data)} bytes; at most {MAX_MESSAGE_BYTES} are taken")
    try:
        body = msgpack.unpackb(data, unicode_errors="surrogatepass")
    except Exception as error:  # msgpack raises many kinds; all mean the same to the sender
        raise ProtocolError(ErrorCode.BAD_MESSAGE, f"not msgpack: {type(error).__name__}") from None
    if not isinstance(body, dict):
        raise ProtocolError(ErrorCode.BAD_MESSAGE, "a message is a map with `protocol` and `type`")
    if not all(isinstance(key, str) for key in body):
        raise ProtocolError(ErrorCode.BAD_MESSAGE, "names of fields are strings")
    request_id = body.get("request_id")
    known_id = request_id if isinstance(request_id, str) and len(request_id) <= 200 else ""
    version = body.pop("protocol", None)
    if type(version) is not int or version != PROTOCOL:
        raise ProtocolError(
            ErrorCode.UNKNOWN_PROTOCOL,
            f"this side speaks protocol {PROTOCOL}; update the older of `midfill` and the editor's server",
            known_id,
        )
    name = body.pop("type", None)
    cls = types.get(name) if isinstance(name, str) else None
    if cls is None:
        raise ProtocolError(ErrorCode.BAD_MESSAGE, f"unknown type; known are {', '.join(types)}", known_id)
    try:
        return _converter.structure(body, cls)
    except Exception as error:  # cattrs groups the causes; name the fields, never their contents
        raise ProtocolError(ErrorCode.BAD_MESSAGE, f"{name}: {_cause(error, cls)}", known_id) from None


def _cause(error: BaseException, cls: type[Any]) -> str:
    names = {field.name for field in fields(cls)}
    try:
        causes = cattrs.transform_error(error) if isinstance(error, cattrs.BaseValidationError) else []
    except Exception:  # it formats what was sent, which may be anything
        causes = []
    told = "; ".join(causes[:3])[:300]
    return told or f"fields do not fit; known are {', '.join(sorted(names))}"
