"""All scenarios. A new one costs a few lines in the module of its kind; see the README beside this folder."""

from __future__ import annotations

from typing import Final

from tests.conformance.scenario import Scenario
from tests.conformance.scenarios import (
    context,
    engine_life,
    indentation,
    insertion,
    load,
    notebooks,
    secrets,
    staleness,
    typing_through,
    unicode,
)

SCENARIOS: Final[tuple[Scenario, ...]] = (
    *insertion.SCENARIOS,
    *indentation.SCENARIOS,
    *unicode.SCENARIOS,
    *typing_through.SCENARIOS,
    *staleness.SCENARIOS,
    *engine_life.SCENARIOS,
    *load.SCENARIOS,
    *context.SCENARIOS,
    *secrets.SCENARIOS,
    *notebooks.SCENARIOS,
)
