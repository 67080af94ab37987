"""What the engine is told beyond the two sides of the cursor, and which files are left alone. This file stays empty."""
