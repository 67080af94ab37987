"""Packing: whatever we send comes back the same; whatever else comes is refused in words."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.protocol import MAX_MESSAGE_BYTES, PROTOCOL, ErrorCode, Fill, Reply, Request
from engine.wire import REPLIES, REQUESTS, ProtocolError, pack, unpack_reply, unpack_request

st.register_type_strategy(str, st.text(st.characters()))  # lone surrogates too: editors send them
numbers = st.floats(allow_nan=False)
st.register_type_strategy(float, numbers)
st.register_type_strategy(int, st.integers(-(2**63), 2**63 - 1))


@settings(max_examples=300, deadline=None)
@given(message=st.one_of([st.from_type(cls) for cls in REQUESTS.values()]))
def test_requests_survive(message: Request) -> None:
    assert unpack_request(pack(message)) == message


@settings(max_examples=300, deadline=None)
@given(message=st.one_of([st.from_type(cls) for cls in REPLIES.values()]))
def test_replies_survive(message: Reply) -> None:
    assert unpack_reply(pack(message)) == message


@settings(max_examples=500, deadline=None)
@given(data=st.binary(max_size=300))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        unpack_request(data)


GOOD: dict[str, Any] = {"protocol": PROTOCOL, "type": "fill", "request_id": "x", "prefix": "", "suffix": ""}


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        ({"protocol": PROTOCOL + 1}, ErrorCode.UNKNOWN_PROTOCOL, "update"),
        ({"protocol": True}, ErrorCode.UNKNOWN_PROTOCOL, "update"),
        ({"type": "fly"}, ErrorCode.BAD_MESSAGE, "unknown type"),
        ({"type": {}}, ErrorCode.BAD_MESSAGE, "unknown type"),
        ({"max_tokens": "5"}, ErrorCode.BAD_MESSAGE, "max_tokens"),
        ({"max_tokens": 5.0}, ErrorCode.BAD_MESSAGE, "max_tokens"),
        ({"preview": 1}, ErrorCode.BAD_MESSAGE, "preview"),
        ({"guesses": "abc"}, ErrorCode.BAD_MESSAGE, "guesses"),
        ({"priority": 9}, ErrorCode.BAD_MESSAGE, "priority"),
        ({"snippets": [{"path": "a"}]}, ErrorCode.BAD_MESSAGE, "snippets"),
        ({"extra": 1}, ErrorCode.BAD_MESSAGE, "extra"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, Any], code: ErrorCode, named: str) -> None:
    with pytest.raises(ProtocolError, match=named) as caught:
        unpack_request(msgpack.packb({**GOOD, **change}))
    assert caught.value.code is code
    assert caught.value.request_id == "x"


def test_errors_never_quote_contents() -> None:
    with pytest.raises(ProtocolError) as caught:
        unpack_request(msgpack.packb({**GOOD, "prefix": ["my secret"], "suffix": {"my secret": 1}}))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", [b"q", 1, None, 2.5, True])
def test_names_of_fields_are_strings(key: object) -> None:
    for message in ({**GOOD, key: 1}, {"protocol": PROTOCOL, "type": "shutdown", "request_id": "x", key: {key: 1}}):
        with pytest.raises(ProtocolError):
            unpack_request(msgpack.packb(message))


def test_what_is_left_out_has_its_default() -> None:
    assert unpack_request(msgpack.packb(GOOD)) == Fill("x", "", "")


def test_size_is_limited() -> None:
    with pytest.raises(ProtocolError) as caught:
        unpack_request(b"x" * (MAX_MESSAGE_BYTES + 1))
    assert caught.value.code is ErrorCode.TOO_LARGE
