"""Holes in real code: Midfill's own sources. Owns: which files, and where they are cut."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import engine
from engine.protocol import Fill

_FILES: Final = ("client.py", "config.py", "core.py", "instance.py", "paths.py", "protocol.py", "scheduler.py")


def holes(n: int, max_tokens: int, seed: int = 0) -> list[Fill]:
    """`n` fills, the rest of a line each, no two with the same beginning of the prompt."""
    folder = Path(str(engine.__file__)).parent
    generator = random.Random(seed)
    texts = [(folder / name).read_text(encoding="utf-8") for name in _FILES]
    found = []
    for i in range(n):
        text = texts[i % len(texts)]
        lines = text.splitlines(keepends=True)
        line = generator.randrange(len(lines) // 2, len(lines) - 10)
        while len(lines[line].strip()) < 12:
            line += 1
        start = len("".join(lines[:line])) + len(lines[line]) // 2
        end = len("".join(lines[: line + 1])) - 1
        mark = f"# {seed}.{i}\n"  # so that no earlier run has left this prompt in the cache
        found.append(Fill("", mark + text[:start], mark + text[end:], max_tokens=max_tokens, max_lines=1, seed=i))
    return found
