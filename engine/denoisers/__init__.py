"""Denoisers: the only place below which torch and transformers are imported to run a model."""

import os as _os

# Before torch is imported: its threads must sleep, not spin, while they wait for each other. With another process
# on the same cores (a compiler, a language server) spinning threads make a step take 10 to 50 times as long.
_os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
