"""Kinds of text files. Owns: which names are text worth indexing, and which languages read each other's code.

Must not know: contents. Names of languages are LSP's identifiers. Data, lock files and pictures are left out on
purpose: they teach a model little and fill the index.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

_ENDINGS: Final = {
    "python": "py pyi pyw pyx",
    "javascript": "js mjs cjs",
    "javascriptreact": "jsx",
    "typescript": "ts mts cts",
    "typescriptreact": "tsx",
    "vue": "vue",
    "svelte": "svelte",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "scala": "scala",
    "groovy": "groovy gradle",
    "csharp": "cs",
    "fsharp": "fs fsx",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx ipp cu",
    "objective-c": "m mm",
    "swift": "swift",
    "dart": "dart",
    "php": "php",
    "ruby": "rb rake",
    "lua": "lua",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "elixir": "ex exs",
    "erlang": "erl hrl",
    "haskell": "hs",
    "ocaml": "ml mli",
    "clojure": "clj cljs cljc",
    "zig": "zig",
    "nim": "nim",
    "shellscript": "sh bash zsh",
    "sql": "sql",
    "proto3": "proto",
    "html": "html htm",
    "css": "css scss less",
    "terraform": "tf",
    "nix": "nix",
    "cmake": "cmake",
    "markdown": "md markdown",
    "restructuredtext": "rst",
    "yaml": "yaml yml",
    "toml": "toml",
}
_BY_ENDING: Final = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}
_BY_NAME: Final = {"makefile": "makefile", "dockerfile": "dockerfile", "cmakelists.txt": "cmake", "rakefile": "ruby"}
_FAMILIES: Final = (
    {"javascript", "javascriptreact", "typescript", "typescriptreact", "vue", "svelte"},
    {"c", "cpp", "objective-c", "objective-cpp", "cuda-cpp"},
    {"java", "kotlin", "scala", "groovy"},
)


def language_of(path: str) -> str:
    """The language of a file's name; empty when it is not worth indexing."""
    name = PurePath(path).name.lower()
    return _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2] if "." in name[1:] else "", "")


def related(one: str, other: str) -> bool:
    """Whether code in one language helps to write the other."""
    return one == other or any(one in family and other in family for family in _FAMILIES)
