"""Denoisers: the only place below which torch and transformers are imported to run a model."""
