"""The Midfill language server: documents, positions, what to ask and what to show. This file stays empty."""
