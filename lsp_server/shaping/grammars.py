"""Which grammar reads which language. Owns: LSP's language ids. Must not know: trees, documents.

Grammars whose errors say little are left out: those of templates, and of languages like Markdown that have no errors.
"""

from __future__ import annotations

from typing import Final

GRAMMARS: Final = {
    "c": "c",
    "clojure": "clojure",
    "cpp": "cpp",
    "csharp": "csharp",
    "css": "css",
    "dart": "dart",
    "elixir": "elixir",
    "elm": "elm",
    "erlang": "erlang",
    "go": "go",
    "graphql": "graphql",
    "haskell": "haskell",
    "java": "java",
    "javascript": "javascript",
    "javascriptreact": "javascript",
    "json": "json",
    "jsonc": "json",
    "julia": "julia",
    "kotlin": "kotlin",
    "lua": "lua",
    "nix": "nix",
    "ocaml": "ocaml",
    "php": "php",
    "proto": "proto",
    "proto3": "proto",
    "python": "python",
    "r": "r",
    "ruby": "ruby",
    "rust": "rust",
    "scala": "scala",
    "scss": "scss",
    "shellscript": "bash",
    "solidity": "solidity",
    "svelte": "svelte",
    "swift": "swift",
    "terraform": "terraform",
    "toml": "toml",
    "typescript": "typescript",
    "typescriptreact": "tsx",
    "vue": "vue",
    "yaml": "yaml",
    "zig": "zig",
}
