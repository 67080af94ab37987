"""`python -I -m engine.commands`: where the console script is not at hand."""

from __future__ import annotations

from engine.commands import main

if __name__ == "__main__":
    main()
