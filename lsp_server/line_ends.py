r"""Line ends. Owns: splitting at LSP's three line ends, and the way from and to the model's `\n`.

Must not know: documents. `str.splitlines` would also split at form feeds and U+2028, which no editor counts as lines.
"""

from __future__ import annotations

import io


def split_lines(text: str) -> list[str]:
    """Lines with their ends; the last one has none, so it may be empty."""
    lines = list(io.StringIO(text, newline=""))
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def line_end(line: str) -> str:
    """The end that `line` has; empty for the last line."""
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1] if line.endswith(("\n", "\r")) else ""


def to_model(text: str) -> str:
    r"""Every line end as `\n`: models have seen little else, and a stray `\r` would defeat matching."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def from_model(text: str, end: str) -> str:
    r"""A model's text with the document's line ends. No prompt holds a `\r`, so one in an answer is noise."""
    text = text.replace("\r", "")
    return text if end == "\n" else text.replace("\n", end)
