"""Whether the engine computes on the device what it computes on the host. Owns: those checks and their tolerances.

Every step of a fill is run on both, in float32 and with the same random numbers; what differs must be rounding.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
import torch

from engine.config import EngineConfig
from engine.denoisers.causal import CausalDenoiser
from engine.denoisers.kv_store import KVStore
from engine.denoisers.loading import load_denoiser
from engine.denoisers.prefill import Prefill
from engine.denoisers.prefix_cache import PrefixCache
from engine.denoisers.uniform import UniformDenoiser
from engine.models.resolve import resolve
from engine.protocol import Fill
from gpu_runs import models
from gpu_runs.names import PARITY
from gpu_runs.record import Record
from gpu_runs.sections import Clock, told

_TOLERANCE: Final = 2e-3
"""Largest difference of a probability, or of a key or value, in float32."""
_EQUAL: Final = 0.9
"""Share of steps whose canvases are the same token for token: two tokens may be as likely but for rounding."""
_STEPS: Final = 16
"""Of a fill, at most."""
_EDITS: Final = 6
_PREFIX: Final = '''"""Shapes."""
import math

class Circle:
    def __init__(self, radius: float) -> None:
        self.radius = radius

    def area(self) -> float:
        return '''
_FILLS: Final = (
    Fill("a", _PREFIX, "\n\n    def perimeter(self):\n        return 2 * math.pi * self.radius\n", n_alternatives=2),
    Fill("b", _PREFIX * 6, "\n", max_tokens=24),
    Fill("c", "", "def f():\n    pass\n", max_tokens=12),
    Fill("d", "x = [\r\n\t'é𝒳',\r\n\t", "\r\n]\r\n", max_tokens=8, n_alternatives=3),
)
Denoiser = UniformDenoiser | CausalDenoiser


class MismatchError(AssertionError):
    """The device's results are not the host's."""


def parity(record: Record, clock: Clock, device: str) -> None:
    """Denoising steps, texts, and keys and values after edits, each model in turn."""
    failed = []

    def add(name: str, compare: Callable[[], dict[str, Any]]) -> None:
        if clock.left < 5:
            failed.append(f"{name}: no time")
            return
        try:
            row = compare()
        except Exception as error:  # the others are still worth a look
            row = {"ok": False, "error": f"{type(error).__name__}: {error}"[:1000]}
        row = {"model": name, **row}
        record.add(PARITY, "rows", row)
        told(f"parity: {row}")
        if not row["ok"]:
            failed.append(name)

    with tempfile.TemporaryDirectory() as root:
        for name, model, policy in _checkpoints(Path(root)):
            add(name, partial(_compare, model, device, policy))
        add("adapter, verified: the text is the base's", partial(_exact, Path(root), device))
    record.put(PARITY, ok=not failed)
    if failed:
        raise MismatchError(f"not equal: {', '.join(failed)}")


def _checkpoints(root: Path) -> list[tuple[str, str, str]]:
    """Name, model and policy."""
    for name in ("gemma", "causal", "adapter"):
        (root / name).mkdir()
    models.save_gemma(root / "gemma")
    models.save_causal(root / "causal")
    models.save_adapter(root / "adapter", root / "causal")
    return [
        ("bundled", "bundled", "auto"),
        ("experts and windows, random", str(root / "gemma"), "auto"),
        ("causal, random", str(root / "causal"), "auto"),
        ("adapter, random, verified", str(root / "adapter"), "verified"),
        ("adapter, random, free", str(root / "adapter"), "free"),
    ]


def _compare(model: str, device: str, policy: str) -> dict[str, Any]:
    host, there = _load(model, "cpu", "float32", policy), _load(model, device, "float32", policy)
    steps = _uniform_steps if isinstance(host, UniformDenoiser) else _causal_steps
    n_steps, n_equal, n_texts, worst = 0, 0, 0, 0.0
    for fill in _FILLS:
        seen, equal, same_text, difference = steps(host, there, fill)
        n_steps, n_equal, worst = n_steps + seen, n_equal + equal, max(worst, difference)
        n_texts += same_text
    edits = _after_edits(there)
    served = _after_edits(_load(model, device, "bfloat16", policy)) if device != "cpu" else None
    return {
        "ok": max(worst, edits) <= _TOLERANCE and n_equal >= _EQUAL * n_steps,
        "steps": n_steps,
        "steps_equal": n_equal,
        "probability_difference": worst,
        "texts_equal": f"{n_texts} of {len(_FILLS)}",
        "kv_difference_after_edits": edits,
        "kv_difference_after_edits_as_served": served,
    }


def _exact(root: Path, device: str) -> dict[str, Any]:
    """Checked cells are the base's own: what `verified` accepts is what the causal family writes."""
    base, adapted = (
        [_tokens(_load(str(root / name), device, "float32", "verified"), fill) for fill in _FILLS]
        for name in ("causal", "adapter")
    )
    n_equal = sum(one == other for one, other in zip(base, adapted, strict=True))
    return {"ok": n_equal == len(_FILLS), "texts_equal": f"{n_equal} of {len(_FILLS)}"}


def _tokens(denoiser: CausalDenoiser, fill: Fill) -> list[int]:
    denoising = denoiser.open(attrs.evolve(fill, n_alternatives=1))
    while denoising.advance().reason is None:
        pass
    (row,) = denoising._rows
    denoising.close()
    return row.accepted


def _load(model: str, device: str, dtype: str, policy: str) -> Any:
    config = EngineConfig(model=model, device=device, dtype=dtype, policy=policy)
    return load_denoiser(resolve(model), config, lambda stage, fraction: None)


def _uniform_steps(host: UniformDenoiser, there: UniformDenoiser, fill: Fill) -> tuple[int, int, bool, float]:
    """Steps, those with the same canvas, whether the texts are the same, the largest difference of a probability."""
    one, two = host.open(fill), there.open(fill)
    n_steps, n_equal, worst = 0, 0, 0.0
    for _ in range(_STEPS):
        left, right = one.advance(), two.advance()
        a, b = one.decision, two.decision
        if a is not None and b is not None and left.frame is not None:
            n_steps += 1
            n_equal += torch.equal(one.canvas.cpu(), two.canvas.cpu())
            worst = max(worst, float((a.probabilities - b.probabilities.cpu()).abs().max()))
        if left.reason is not None or right.reason is not None or n_equal < n_steps:  # from there on all differs
            break
    same = [c.text for c in one.candidates()] == [c.text for c in two.candidates()]
    one.close()
    two.close()
    return n_steps, n_equal, same, worst


def _causal_steps(host: CausalDenoiser, there: CausalDenoiser, fill: Fill) -> tuple[int, int, bool, float]:
    """As `_uniform_steps`; of what has been accepted."""
    one, two = host.open(fill), there.open(fill)
    n_steps, n_equal, worst = 0, 0, 0.0
    for _ in range(_STEPS):
        left, right = one.advance(), two.advance()
        if left.frame is not None:
            n_steps += 1
            n_equal += [row.accepted for row in one._rows] == [row.accepted for row in two._rows]
            for a, b in zip(one._rows, two._rows, strict=True):
                worst = max(worst, abs(a.log_probability - b.log_probability) / max(1, len(a.accepted)))
        if left.reason is not None or right.reason is not None or n_equal < n_steps:  # from there on all differs
            break
    same = [c.text for c in one.candidates()] == [c.text for c in two.candidates()]
    one.close()
    two.close()
    return n_steps, n_equal, same, worst


def _after_edits(denoiser: Denoiser) -> float:
    """Largest difference between keys and values that were reused over a run of edits, and fresh ones."""
    shapes = denoiser.forward.shapes if isinstance(denoiser, UniformDenoiser) else denoiser.shapes
    kept = denoiser.cache

    def make() -> KVStore:
        return kept._make()

    cache, chance, worst = PrefixCache(make, 64 * 2**20), random.Random(0), 0.0
    prompt = [chance.randrange(300, 2000) for _ in range(400)]
    for _ in range(_EDITS):
        store, fresh = (_encoded(denoiser, one, prompt) for one in (cache, PrefixCache(make, 2**40)))
        for layer in range(len(shapes)):
            for got, expected in zip(store.raw(layer, 0, len(prompt)), fresh.raw(layer, 0, len(prompt)), strict=True):
                worst = max(worst, float((got.float() - expected.float()).abs().max()))
        at, n = chance.randrange(len(prompt)), chance.randrange(1, 90)
        new = [chance.randrange(300, 2000) for _ in range(n)]
        prompt = chance.choice(
            (prompt + new, prompt[:at] + new + prompt[at:], prompt[:at] + prompt[at + n :] or [300], prompt[: at + 1])
        )
    return worst


def _encoded(denoiser: Denoiser, cache: PrefixCache, prompt: list[int]) -> KVStore:
    denoising = denoiser.open(Fill("a", "x", ""))  # lends its way to encode
    encode: Callable[..., None] = denoising._encode
    prefill = Prefill(cache, prompt, encode)
    with torch.inference_mode():
        while not prefill.done:
            prefill.advance()
    prefill.close()
    denoising.close()
    return prefill.store
