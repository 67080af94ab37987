"""Models on disk: which are known, where they lie, how they get there. Must not import torch."""
