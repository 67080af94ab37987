"""One small fill, to see that the whole way to the model works. Owns: its text."""

from __future__ import annotations

from typing import Final

from engine.commands.connection import connected
from engine.protocol import Fill

_PREFIX: Final = "def add(a: int, b: int) -> int:\n    return "
_DEADLINE_MS: Final = 20_000
_SUFFIX: Final = "\n\n\nprint(add(1, 2))\n"


async def try_fill(endpoint: str) -> str:
    """Fill a hole in two lines of Python; what came of it, in words. Raises `EngineError` and `CommandError`."""
    async with connected("doctor", endpoint, None, show=False) as client:
        request = Fill(
            "", prefix=_PREFIX, suffix=_SUFFIX, language="python", max_tokens=16, max_lines=1, deadline_ms=_DEADLINE_MS
        )
        result = await client.fill(request)
    took = result.timings_ms
    text = result.candidates[0].text if result.candidates else ""
    told = f"`return` → {text!r} by {result.model}, {result.reason} in {result.n_forward_passes} forward passes"
    return f"{told}, prefill {took.prefill:.0f} ms, denoise {took.denoise:.0f} ms, total {took.total:.0f} ms"
