"""Every scenario, on real servers with a scripted engine behind the real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.conformance.house import House
from tests.conformance.scenario import Scenario
from tests.conformance.scenarios.collection import SCENARIOS
from tests.conformance.stage import Stage

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOO_LONG_S = 60.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house() -> AsyncIterator[House]:
    """One for all scenarios that leave it as it was."""
    async with House() as house:
        yield house


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_scenario(scenario: Scenario, house: House, tmp_path: Path) -> None:
    async with asyncio.timeout(TOO_LONG_S):
        if scenario.is_alone:
            async with House(scenario.loaded) as own:
                await play(scenario, own, tmp_path)
        else:
            await play(scenario, house, tmp_path)


async def play(scenario: Scenario, house: House, workspace: Path) -> None:
    for path, text in (scenario.files or {}).items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text, encoding="utf-8")
    desk = await house.desk(scenario.kind)
    if scenario.files is not None:
        desk.change_folders(added=[workspace])
    await Stage(house, desk, scenario, workspace).play()
    if scenario.files is not None:
        desk.change_folders(removed=[workspace])
