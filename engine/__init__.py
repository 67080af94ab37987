"""The Midfill engine: tokens, canvases, caches and devices. Import its modules by name; this file stays empty."""
