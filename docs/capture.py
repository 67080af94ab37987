"""Makes docs/fill.svg, the picture in the README: a real `midfill fill`, some of its frames one below the other.

    .venv/bin/python docs/capture.py

Uses whatever model `auto` means, so pull one first; the picture names it. Rerun it when the view changes.
"""

from __future__ import annotations

import asyncio
import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from engine.commands.connection import connected
from engine.commands.figures import print_figures
from engine.commands.live import fill_to_fit
from engine.commands.place import Place
from engine.commands.text_file import read_text_file
from engine.commands.view import RegionView
from engine.protocol import Fill, Frame, Span

DOCS = Path(__file__).resolve().parent
SAMPLE = DOCS / "shop.py.txt"
LINE = 25
WIDTH = 118
SHOWN = (1, 5, 9)
"""Steps whose frames are drawn; the result follows."""


async def main() -> None:
    """Fill once to warm the engine up, then once more for the picture."""
    file = read_text_file(SAMPLE)
    prefix, suffix = file.window_at(file.offset_of(Place(SAMPLE, LINE, None)))
    request = Fill("", prefix=prefix, suffix=suffix, language="python", path="shop.py", preview=True)
    frames: list[Frame] = []
    async with connected("capture", "", None, show=True) as client:
        await client.fill(request)
        result = await fill_to_fit(client, request, frames.append)
    console = Console(record=True, file=io.StringIO(), force_terminal=True, width=WIDTH, highlight=False)
    console.print(Text(f"$ midfill fill shop.py:{LINE}", "bold"))
    for frame in frames:
        if frame.step in SHOWN:
            console.print(Text(f"after step {frame.step}", "dim"))
            console.print(RegionView(prefix, suffix, LINE, WIDTH).draw(frame.spans))
    console.print(Text("result", "dim"))
    spans = (Span(result.candidates[0].text, settled=True),)
    console.print(RegionView(prefix, suffix, LINE, WIDTH).draw(spans, final=True))
    print_figures(result, client.welcome, "", console)
    picture = console.export_svg(title="midfill")
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)  # a picture must not ask another host
    (DOCS / "fill.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
