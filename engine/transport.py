"""The engine's socket. Owns: one ROUTER socket and the thread that runs it. Must not know: models, fills' meaning.

The socket lives in its own thread and talks to the core through two queues, so the core stays one thread without
locks. What can't be read is answered here, with an error to its sender, and reaches nobody else.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import Final

import structlog
import zmq
from attrs import frozen

from engine.protocol import (
    MAX_MESSAGE_BYTES,
    ErrorCode,
    Failure,
    Frame,
    Reply,
    Request,
)
from engine.wire import ProtocolError, pack, unpack_request

_OUTBOX: Final = "inproc://outbox"
_HIGH_WATER: Final = 2000
"""Replies that may wait for one client; a client that reads so little loses frames, then its place."""

log = structlog.get_logger(__name__)


@frozen
class Received:
    """A request and who sent it."""

    peer: bytes
    request: Request


@frozen
class PeerGone:
    """A client that can't be reached any more."""

    peer: bytes


@frozen
class TransportEnded:
    """The socket is closed: nobody can be served any more."""


class Transport:
    """Bound on construction; `start` begins to read. Used from one thread only, the core's."""

    def __init__(self, endpoint: str, inbox: queue.SimpleQueue[object]) -> None:
        """Raises `zmq.ZMQError` when the address can't be bound."""
        self._inbox = inbox
        self._context = zmq.Context()
        self._router = self._context.socket(zmq.ROUTER)
        self._router.set(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
        self._router.set(zmq.ROUTER_MANDATORY, 1)
        self._router.set(zmq.SNDHWM, _HIGH_WATER)
        self._router.set(zmq.LINGER, 500)
        self._router.bind(endpoint)
        self._pull = self._context.socket(zmq.PULL)
        self._pull.set(zmq.RCVHWM, 0)
        self._pull.bind(_OUTBOX)
        self._push = self._context.socket(zmq.PUSH)
        self._push.set(zmq.SNDHWM, 0)
        self._push.connect(_OUTBOX)
        self._thread = threading.Thread(target=self._run, name="transport", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def send(self, peer: bytes, reply: Reply) -> None:
        """Queue a reply. A client that is gone is reported as `PeerGone` later."""
        droppable = b"1" if isinstance(reply, Frame) and not reply.final else b"0"
        self._push.send_multipart([peer, droppable, pack(reply)])

    def close(self) -> None:
        """Send what is queued, close the socket, end the thread."""
        self._push.send_multipart([b"", b"", b""])
        self._thread.join(timeout=2)
        self._push.close()
        self._context.term()

    def _run(self) -> None:
        try:
            self._serve()
        except Exception as error:
            log.error("the transport has failed", kind=type(error).__name__)
        finally:
            self._inbox.put(TransportEnded())
            self._router.close()
            self._pull.close()

    def _serve(self) -> None:
        poller = zmq.Poller()
        poller.register(self._router, zmq.POLLIN)
        poller.register(self._pull, zmq.POLLIN)
        running = True
        while running:
            ready = dict(poller.poll())
            if self._pull in ready:
                running = self._flush()
            if self._router in ready:
                self._read()

    def _flush(self) -> bool:
        """Pass on what the core has queued; False after its farewell."""
        while True:
            try:
                peer, droppable, data = self._pull.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return True
            if not peer:
                return False
            self._write(peer, data, droppable == b"1")

    def _write(self, peer: bytes, data: bytes, droppable: bool) -> None:
        try:
            self._router.send_multipart([peer, data], zmq.NOBLOCK)
        except zmq.Again:
            if not droppable:
                self._inbox.put(PeerGone(peer))
        except zmq.ZMQError:  # nobody of that name any more
            self._inbox.put(PeerGone(peer))

    def _read(self) -> None:
        with contextlib.suppress(zmq.Again):
            peer, *parts = self._router.recv_multipart(zmq.NOBLOCK)
            try:
                if len(parts) != 1:
                    raise ProtocolError(ErrorCode.BAD_MESSAGE, f"a message has one part, not {len(parts)}")
                self._inbox.put(Received(peer, unpack_request(parts[0])))
            except Exception as error:  # whatever was sent, the next message must be read
                code = error.code if isinstance(error, ProtocolError) else ErrorCode.BAD_MESSAGE
                request_id = error.request_id if isinstance(error, ProtocolError) else ""
                told = str(error) if isinstance(error, ProtocolError) else f"unreadable ({type(error).__name__})"
                log.info("unreadable message", code=code, n_bytes=sum(map(len, parts)))
                self._write(peer, pack(Failure(request_id, code, told, retryable=False)), False)
