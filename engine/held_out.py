"""Packages that no model of this project was trained on. Owns: their names and versions."""

from __future__ import annotations

from typing import Final

HELD_OUT: Final = {
    "attrs": "26.1.0",
    "click": "8.5.1",
    "httpx": "0.28.1",
    "marshmallow": "4.4.0",
    "pluggy": "1.7.0",
    "starlette": "1.10.0",
    "tqdm": "4.70.1",
    "typer": "0.29.2",
}
"""What the held-out cases are cut from, at the versions that were looked at."""
RESERVED: Final = {
    "arrow": "1.4.0",
    "cattrs": "26.2.1",
    "cmd2": "4.3.1",
    "dulwich": "1.2.21",
    "invoke": "3.0.3",
    "pendulum": "3.3.0",
    "rope": "1.15.2",
    "structlog": "26.1.0",
}
"""Kept for a later look: nothing was tuned or trained on them, and no case is cut from them yet."""
