"""The corpus: source texts of published packages, the same for everybody who builds it.

`build_corpus(folder, cache, humaneval=..., tell=...)` writes `manifest.json` and the texts into `folder` and keeps the
wheels in `cache`; `read_corpus(folder)` gives the texts back, in order and checked. Raises `CorpusError`, or
`engine.wheels.PackageError` when a package can't be fetched.
"""

from engine.training.corpus.build import Progress, build_corpus
from engine.training.corpus.folder import CorpusError, read_corpus, read_manifest
from engine.training.corpus.manifest import Dropped, Manifest, PackageEntry
from engine.training.corpus.source_text import SourceText

__all__ = [
    "CorpusError",
    "Dropped",
    "Manifest",
    "PackageEntry",
    "Progress",
    "SourceText",
    "build_corpus",
    "read_corpus",
    "read_manifest",
]
