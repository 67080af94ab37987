"""The figures of a finished fill, in words. Owns: the line below a result."""

from __future__ import annotations

from rich.console import Console

from engine.protocol import Reason, Result, Welcome

_REASONS = {
    Reason.CONVERGED: "converged",
    Reason.LIMIT: "stopped at its limit",
    Reason.DEADLINE: "stopped by the deadline",
    Reason.CANCELLED: "cancelled",
}


def tokens_per_forward(result: Result) -> float:
    """Tokens of the best candidate per forward pass of the denoiser."""
    n_tokens = result.candidates[0].n_tokens if result.candidates else 0
    return round(n_tokens / result.n_forward_passes, 2) if result.n_forward_passes else 0.0


def print_figures(result: Result, welcome: Welcome | None, applied_to: str, console: Console | None = None) -> None:
    """The line of figures, what ran, and what was written. Lines that are too long for a terminal break at words."""
    console = console or _beside_result()
    took = result.timings_ms
    figures = [
        _REASONS[result.reason],
        _count(result.n_steps, "step"),
        _count(result.n_forward_passes, "forward pass", "forward passes"),
        f"{tokens_per_forward(result):.2f} tokens per forward",
        f"prefill {took.prefill:.0f} ms",
        f"denoise {took.denoise:.0f} ms",
        f"total {took.total:.0f} ms",
    ]
    console.print(" · ".join(figures), markup=False)
    if welcome is not None:
        model = welcome.model
        told = f"{model.name} ({model.family}, {model.device}, {model.dtype}): {model.note}"
        console.print(told, markup=False, style="dim")
    if not result.candidates or not result.candidates[0].text:
        console.print("The model suggests nothing here.")
    if applied_to:
        console.print(f"Written to {applied_to}", markup=False)


def _beside_result() -> Console:
    """The result's own terminal; where the result goes elsewhere it goes alone, and this to stderr."""
    console = Console(highlight=False)
    if console.is_terminal:
        return console
    console = Console(stderr=True, highlight=False)
    return console if console.is_terminal else Console(stderr=True, highlight=False, soft_wrap=True)


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"
