"""Training: corpora, examples, and the runs that turn them into weights. Serving imports nothing from here."""
