"""Programs that share no line with each other."""

from __future__ import annotations


def program(word: str, n_functions: int = 6) -> str:
    """A file's text in which every line holds `word`."""
    return "".join(
        f"def {word}_function_{i}({word}_first, {word}_second):\n"
        f'    """Say what the {word} number {i} makes of both."""\n'
        f"    {word}_sum = {word}_first + {word}_second * {i}\n"
        f"    return {word}_sum if {word}_first else {word}_second\n\n\n"
        for i in range(n_functions)
    )
