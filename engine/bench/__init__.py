"""Benchmarks: the engine over its real socket beside stock `generate()` on the same weights, in one run."""

import engine.denoisers  # noqa: F401  (its threads' setting, before torch is imported: both sides get the same)
