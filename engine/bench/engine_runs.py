"""Fills through the real engine process, timed from the client's side. Owns: one private engine and its figures."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
from attrs import define

from engine.client import EngineClient, connect_or_start
from engine.protocol import Fill, Frame, Result


@define(eq=False)
class Timed:
    """One fill as its client saw it, in milliseconds."""

    result: Result
    total: float
    first_frame: float


@define(eq=False)
class EngineRuns:
    """A private engine."""

    client: EngineClient
    resident_mb: float = 0.0
    """After loading, before the first fill."""

    async def fill(self, fill: Fill) -> Timed:
        """Run one fill with frames."""
        first: list[float] = []
        start = time.perf_counter()

        def show(_: Frame) -> None:
            if not first:
                first.append(time.perf_counter())

        result = await self.client.fill(attrs.evolve(fill, preview=True), show)
        end = time.perf_counter()
        return Timed(result, (end - start) * 1000, ((first[0] if first else end) - start) * 1000)


@asynccontextmanager
async def private_engine(model: str, threads: int) -> AsyncIterator[EngineRuns]:
    """Start an engine of our own beside the user's, and stop it at the end. Raises `EngineError`."""
    folder = Path(tempfile.mkdtemp(prefix="mfbench", dir="/tmp"))  # a socket's path must be short
    arguments = ["--model", model, "--threads", str(threads), "--idle-exit-s", "900"]
    try:
        client = await connect_or_start(
            f"bench-{os.getpid()}", endpoint=f"ipc://{folder}/engine.sock", arguments=arguments
        )
        try:
            await client.wait_ready()
            status = await client.status()
            yield EngineRuns(client, status.resident_bytes / 1e6)
        finally:
            await client.shutdown()
            await client.close()
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, True)
