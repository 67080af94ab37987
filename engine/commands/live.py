"""A fill in view. Owns: how often the terminal is drawn, and what is left there."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import attrs
from rich.console import Console
from rich.live import Live
from rich.text import Text

from engine.client import EngineClient
from engine.commands.view import RegionView, printable
from engine.protocol import Fill, Frame, Result, Span
from lsp_server.shaping import Place, shape, shaped_text

_PERIOD_S: Final = 1 / 15
"""Between two drawn frames; more than 15 a second only flicker."""


async def fill_in_view(client: EngineClient, request: Fill, line: int, console: Console | None = None) -> Result:
    """Run the fill and draw its frames; the result stays on the screen. Without a terminal: only the result, plain."""
    console = console or Console(highlight=False)
    if not console.is_terminal:
        result = await fill_to_fit(client, request)
        if text := _text(result):
            print(text, flush=True)  # noqa: T201 - for a pipe: as it is, not wrapped
        return result
    # a row less than there is: the cursor stands below
    view = RegionView(request.prefix, request.suffix, line, console.width, max(console.height - 1, 1))
    place = _place(request)
    drawn_at = 0.0
    with Live(view.draw(()), console=console, auto_refresh=False, vertical_overflow="crop") as live:

        def on_frame(frame: Frame) -> None:
            nonlocal drawn_at
            now = time.monotonic()
            if now - drawn_at >= _PERIOD_S:  # the newest frame wins; the last picture is drawn from the result
                drawn_at = now
                live.update(view.draw(shape(frame.spans, place)), refresh=True)

        result = await fill_to_fit(client, request, on_frame)
        live.update(view.draw((Span(_text(result), settled=True),), final=True))  # drawn, whole, as the view ends
    for index, other in enumerate(result.candidates[1 : request.n_alternatives], start=2):
        console.print(Text(f"{index}. {printable(other.text)}"), style="dim")
    return result


async def fill_to_fit(client: EngineClient, request: Fill, on_frame: Callable[[Frame], None] | None = None) -> Result:
    """Run the fill; its texts come fit for their place, as the language server gives them to an editor."""
    place = _place(request)
    result = await client.fill(request, on_frame)
    fitting = tuple(attrs.evolve(one, text=shaped_text(one.text, place)) for one in result.candidates)
    return attrs.evolve(result, candidates=fitting)


def _place(request: Fill) -> Place:
    return Place(request.prefix, request.suffix, request.language)


def _text(result: Result) -> str:
    return result.candidates[0].text if result.candidates else ""
