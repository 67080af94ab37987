"""Names of sections, as they stand in the record. Imports nothing: the tables need them without torch."""

from __future__ import annotations

from typing import Final

ENVIRONMENT: Final = "environment"
PARITY: Final = "parity"
LARGE: Final = "diffusiongemma"
ADAPT: Final = "adapt"
