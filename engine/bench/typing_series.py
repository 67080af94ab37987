"""The keystroke replay as a part of a benchmark. Owns: whose code is typed, and which figures are reported."""

from __future__ import annotations

import asyncio
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Final

from engine.bench.engine_runs import EngineRuns
from engine.bench.report import Report
from engine.bench.series import Ratio, Series
from engine.bench.typing import Pace, replay
from engine.evaluation.packages import sources_at_hand

_SHORTEST, _LONGEST = 1_000, 60_000
"""Characters of a file."""
_HANDLER_MS: Final = 10.0
_FLAT: Final = 1.1
"""Most memory at the end, beside that of half-way."""


def typed_sources() -> list[str]:
    """Files to type: of the held-out packages that are installed here, else of Python itself. Fetches nothing."""
    texts = [source.text for source in sources_at_hand([Path(sysconfig.get_path("purelib"))])]
    texts = texts or [path.read_text("utf-8") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("[a-z]*.py"))]
    return [text for text in texts if _SHORTEST <= len(text) <= _LONGEST and "\r" not in text]


async def type_code(engine: EngineRuns, pace: Pace, report: Report) -> None:
    """Replay keystrokes with the engine behind them, and report. Raises `OSError`, `EngineError`."""
    logs = await asyncio.to_thread(tempfile.mkdtemp, prefix="mflogs")  # no line of it in the user's logs and statistics
    n_before = (await engine.client.status()).n_fills
    try:
        found = await replay(typed_sources(), pace, {"endpoint": engine.client.endpoint}, {"MIDFILL_LOG_DIR": logs})
    finally:
        await asyncio.to_thread(shutil.rmtree, logs, True)
    n_fills = (await engine.client.status()).n_fills - n_before
    report.typing = found.counts()
    busy = Series.of(found.busy_ms, "ms")
    halfway_mb, end_mb = (Series.of(megabytes, "MB") for megabytes in (found.halfway_mb, found.end_mb))
    report.scenarios["typing, the server busy with a key"] = busy
    report.scenarios["typing, a key handled, ways included"] = Series.of(found.handled_ms, "ms")
    if found.shown_ms:
        report.scenarios["typing, from the key to a suggestion"] = Series.of(found.shown_ms, "ms")
    report.scenarios["typing, fills for 100 keys"] = Series.of([round(100 * n_fills / found.n_keys, 2)], "x")
    report.scenarios["typing, server memory half-way"] = halfway_mb
    report.scenarios["typing, server memory at the end"] = end_mb
    report.ratios["server busy with a key, p95 / 10 ms"] = Ratio(round(busy.p95 / _HANDLER_MS, 2), 1.0, at_most=True)
    growth = round(end_mb.median / halfway_mb.median, 2)
    report.ratios["server memory, end / half-way"] = Ratio(growth, _FLAT, at_most=True)
