"""One benchmark run: the same holes through the engine and through stock `generate()`, in turn.

Owns: what is measured and in which order. Engine and library are two processes that never work at the same time, and
each hole is given to both before the next one, so that a machine's moods hit both alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import attrs
import torch

from engine.bench.engine_runs import EngineRuns, Timed, private_engine
from engine.bench.holes import holes
from engine.bench.report import Report
from engine.bench.series import Ratio, Series
from engine.bench.server_memory import server_megabytes
from engine.bench.stock import StockCausal, StockUniform
from engine.bench.typing import Pace
from engine.bench.typing_series import type_code
from engine.config import EngineConfig
from engine.denoisers.causal import CausalDenoiser
from engine.denoisers.loading import load_denoiser
from engine.denoisers.uniform import UniformDenoiser
from engine.models.resolve import resolve
from engine.protocol import Candidate, Fill

_REGION_TOKENS: Final = 32
_OVERHEAD_GOAL: Final = 10.0
"""Most share of a fill's time outside the forward passes, in percent."""
_UNIFORM_GOAL: Final = 5.0
_CAUSAL_GOAL: Final = 1.0
_ENGINE_MB: Final = 2000.0
_SERVER_MB: Final = 150.0

Tell = Callable[[str, float], None]


async def run(model: str, n: int, pace: Pace, threads: int, tell: Tell) -> Report:
    """Measure `model` over `n` holes and while typing. Raises `EngineError`, `DenoiserError`, `ModelNotFoundError`."""
    folder = resolve(model)
    tell("loading the model" + (" twice: in the engine, and here for stock generate()" if n else ""), 0.0)
    denoiser = load_denoiser(folder, EngineConfig(threads=threads), lambda stage, fraction: None) if n else None
    async with private_engine(model, threads) as engine:
        about = (await engine.client.wait_ready()).model
        report = Report(about.name, about.family, about.device, about.dtype, torch.get_num_threads() if n else threads)
        if denoiser is not None:
            assert isinstance(denoiser, UniformDenoiser | CausalDenoiser)
            await _fill_holes(engine, denoiser, n, report, tell)
        report.scenarios["engine memory after loading"] = Series.of([engine.resident_mb], "MB")
        if pace.n_keys:
            tell(f"typing {pace.n_keys} keys", n / (n + 1))
            await type_code(engine, pace, report)
    report.scenarios["midfill-lsp memory, 50 files"] = Series.of([await server_megabytes()], "MB")
    report.ratios["server memory / 150 MB"] = _budget(report, "midfill-lsp memory, 50 files", _SERVER_MB)
    report.ratios["engine memory / 2 GB"] = _budget(report, "engine memory after loading", _ENGINE_MB)
    return report


async def _fill_holes(
    engine: EngineRuns, denoiser: UniformDenoiser | CausalDenoiser, n: int, report: Report, tell: Tell
) -> None:
    rounds = _Rounds(engine, denoiser)
    fills = holes(n + 1, _REGION_TOKENS)
    await rounds.go(attrs.evolve(fills[0], max_tokens=4), record=False)  # allocations, kernels' choices
    for i, fill in enumerate(fills[1:]):
        tell(f"hole {i + 1} of {n}", (i + 1) / (n + 1))
        await rounds.go(fill)
    rounds.sum_up(report)


def _budget(report: Report, scenario: str, budget: float) -> Ratio:
    return Ratio(round(report.scenarios[scenario].median / budget, 2), 1.0, at_most=True)


class _Rounds:
    """Measurements of all holes so far."""

    def __init__(self, engine: EngineRuns, denoiser: UniformDenoiser | CausalDenoiser) -> None:
        self._engine, self._denoiser = engine, denoiser
        self._cold: list[Timed] = []
        self._warm: list[Timed] = []
        self._typed: list[Timed] = []
        self._guessed: list[Timed] = []
        self._stock: list[float] = []
        self._stock_warm: list[float] = []
        self._stock_texts: list[str] = []

    async def go(self, fill: Fill, *, record: bool = True) -> None:
        """One hole: cold, warm, typed on, with a right guess; then stock `generate()`."""
        cold = await self._engine.fill(fill)
        warm = await self._engine.fill(fill)
        typed = await self._engine.fill(attrs.evolve(fill, prefix=fill.prefix + "x"))
        text = warm.result.candidates[0].text if warm.result.candidates else ""
        causal = isinstance(self._denoiser, CausalDenoiser)
        guessed = await self._engine.fill(attrs.evolve(fill, guesses=(text,))) if causal else None
        stock_text, stock, stock_warm = self._run_stock(fill)
        if not record:
            return
        self._cold.append(cold)
        self._warm.append(warm)
        self._typed.append(typed)
        self._guessed += [guessed] if guessed is not None else []
        self._stock.append(stock)
        self._stock_warm += [stock_warm] if stock_warm else []
        self._stock_texts.append(stock_text)

    def _run_stock(self, fill: Fill) -> tuple[str, float, float]:
        """Text, time from nothing, and time on a warm cache (0.0 where the library can't), in milliseconds."""
        if isinstance(self._denoiser, UniformDenoiser):
            uniform = StockUniform(self._denoiser, self._denoiser.open(fill))
            return *_timed(uniform.run), 0.0
        text, cold = _timed(StockCausal(self._denoiser, fill).run)
        stock = StockCausal(self._denoiser, fill)
        stock.warm()
        return text, cold, _timed(stock.run)[1]

    def sum_up(self, report: Report) -> None:
        """Medians and ratios."""
        for name, runs in (
            ("cold prefix", self._cold),
            ("warm prefix", self._warm),
            ("one more character", self._typed),
        ):
            report.scenarios[f"first frame, {name}"] = Series.of([run.first_frame for run in runs], "ms")
            report.scenarios[f"result, {name}"] = Series.of([run.total for run in runs], "ms")
        report.scenarios["prefill, cold prefix"] = Series.of(
            [run.result.timings_ms.prefill for run in self._cold], "ms"
        )
        steps = [run.result.timings_ms.denoise / max(1, run.result.n_steps) for run in self._warm]
        report.scenarios["one denoising step"] = Series.of(steps, "ms")
        overhead = [100 * (1 - run.result.timings_ms.forward / run.total) for run in self._warm]
        report.scenarios["time outside forward passes, warm"] = Series.of(overhead, "%")
        per_pass = [_n_tokens(run) / max(1, run.result.n_forward_passes) for run in self._warm]
        report.scenarios["tokens per forward"] = Series.of(per_pass, "x")
        report.scenarios["stock generate(), from nothing"] = Series.of(self._stock, "ms")
        cold, warm = [run.total for run in self._cold], [run.total for run in self._warm]
        report.ratios["overhead %"] = Ratio(
            report.scenarios["time outside forward passes, warm"].median, _OVERHEAD_GOAL, True
        )
        goal = 0.0 if self._stock_warm else _UNIFORM_GOAL
        report.ratios["stock / ours, both from nothing"] = Ratio.of(self._stock, cold)
        report.ratios["stock from nothing / ours warm"] = Ratio.of(self._stock, warm, goal)
        if self._stock_warm:
            guessed = [run.total for run in self._guessed]
            report.scenarios["result, warm prefix, right guess"] = Series.of(guessed, "ms")
            report.scenarios["stock generate(), warm cache"] = Series.of(self._stock_warm, "ms")
            report.ratios["stock / ours, both warm"] = Ratio.of(self._stock_warm, warm, _CAUSAL_GOAL)
            report.ratios["stock / ours, both warm, right guess"] = Ratio.of(self._stock_warm, guessed, _CAUSAL_GOAL)
        ours = [made.text if (made := _made(run)) else "" for run in self._warm]
        same = sum(a == b for a, b in zip(ours, self._stock_texts, strict=True))
        report.same_text = f"{same} of {len(ours)}"


def _n_tokens(run: Timed) -> int:
    return made.n_tokens if (made := _made(run)) else 0


def _made(run: Timed) -> Candidate | None:
    """The best text that the model itself has made: copies from the buffer, which took no step, compete with it."""
    return next((one for one in run.result.candidates if one.n_steps), None)


def _timed(work: Callable[[], str]) -> tuple[str, float]:
    start = time.perf_counter()
    text = work()
    return text, (time.perf_counter() - start) * 1000
