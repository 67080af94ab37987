"""The engine process: lock, log, socket, model, core. Owns: putting them together and taking them apart."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import queue
import signal
import sys
import threading

import structlog
import zmq

from engine.config import EngineConfig
from engine.core import Core, Leave, Loaded, Told
from engine.denoisers.denoiser import Denoiser, DenoiserError
from engine.instance import AddressError, Instance
from engine.models.resolve import ModelNotFoundError, resolve
from engine.paths import log_dir
from engine.transport import Transport

log = structlog.get_logger(__name__)


def run(config: EngineConfig, endpoint: str) -> int:
    """Serve until told to leave or idle for too long; returns the exit code.

    Raises `AlreadyRunningError` when another engine has the address, `AddressError` when it can't be used.
    """
    instance = Instance(endpoint)
    inbox: queue.SimpleQueue[object] = queue.SimpleQueue()
    _log_to_file()
    try:
        try:
            transport = Transport(endpoint, inbox)
        except zmq.ZMQError as error:
            raise AddressError(f"{endpoint} can't be bound: {error}") from None
        transport.start()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: inbox.put(Leave()))
        log.info("started", endpoint=endpoint, model=config.model, pid=os.getpid())
        threading.Thread(target=_load, args=(config, inbox), name="loading", daemon=True).start()
        core = Core(config, inbox, transport.send)
        try:
            core.run()
        except Exception as error:
            log.error("the core has failed", kind=type(error).__name__)
            raise
        finally:
            transport.close()
    finally:
        instance.release()
    if core.failure:
        print(f"midfill: {core.failure}", file=sys.stderr)  # noqa: T201 - for who started it by hand
    with contextlib.suppress(Exception):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(1 if core.failure else 0)  # a loading thread may be deep inside an import; there is nothing to clean up


def _load(config: EngineConfig, inbox: queue.SimpleQueue[object]) -> None:
    """Load the model on its own thread: importing torch alone takes seconds, and hellos must be answered."""
    loaded: Denoiser | DenoiserError
    try:
        folder = resolve(config.model)
        inbox.put(Told("importing torch", 0.0))
        from engine.denoisers.loading import load_denoiser

        loaded = load_denoiser(folder, config, lambda stage, fraction: inbox.put(Told(stage, fraction)))
    except ModelNotFoundError as error:
        loaded = DenoiserError(str(error))
    except DenoiserError as error:
        loaded = error
    except Exception as error:  # whatever a checkpoint's files made the libraries raise
        log.exception("loading failed")
        loaded = DenoiserError(f"the model can't be loaded ({type(error).__name__}: {error}); see the engine's log")
    inbox.put(Loaded(loaded))
    if sys.stderr.isatty() and not isinstance(loaded, DenoiserError):
        about = loaded.model
        ready = f"{about.name} is ready on {about.device}; Ctrl-C ends the engine"
        print(f"midfill: {ready}", file=sys.stderr)  # noqa: T201 - for who started it by hand


def _log_to_file() -> None:
    """One JSON object a line in `engine.log`, rotated at 2 MB; never document text."""
    handler = logging.handlers.RotatingFileHandler(
        log_dir() / "engine.log", maxBytes=2_000_000, backupCount=2, encoding="utf-8"
    )
    logger = logging.getLogger("engine")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [handler]
    structlog.configure(
        processors=[
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
