"""Memory of `midfill-lsp` with many open files. Owns: which files."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import engine
from engine.bench.language_server import LanguageServer

_N_FILES: Final = 50


async def server_megabytes() -> float:
    """Resident memory of the server, in MB, with fifty of our own sources open. Raises `OSError` without a server."""
    server = await LanguageServer.start()
    try:
        sources = sorted(Path(str(engine.__file__)).parent.rglob("*.py"))
        for i in range(_N_FILES):
            text = sources[i % len(sources)].read_text(encoding="utf-8")
            document = {"uri": f"file:///bench/{i}.py", "languageId": "python", "version": 1, "text": text}
            server.notify("textDocument/didOpen", {"textDocument": document})
        await server.request("midfill/status", None)  # answered when all before it has been taken in
        return server.resident_mb()
    finally:
        await server.stop()
