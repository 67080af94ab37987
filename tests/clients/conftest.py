"""Fixtures for editors of many kinds: those of the language server's tests, and editors that can do more."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.clients.desk import Desk
from tests.conftest import PrivateFolders
from tests.lsp.conftest import engine, no_hanging

__all__ = ["engine", "no_hanging", "start_desk"]

StartDesk = Callable[..., Awaitable[Desk]]


@pytest.fixture
async def start_desk(private_folders: PrivateFolders) -> AsyncIterator[StartDesk]:
    """Starts editors, and stops them in the end."""
    desks: list[Desk] = []

    async def start(**options: object) -> Desk:
        desk = await Desk.start(**options)  # type: ignore[arg-type]
        desks.append(desk)
        return desk

    yield start
    for desk in desks:
        await desk.stop()
