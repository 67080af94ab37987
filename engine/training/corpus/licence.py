"""What a package states about its licence, and whether that is enough. Owns: that reading. Is no lawyer."""

from __future__ import annotations

import re
from email.message import Message
from typing import Final

_PERMISSIVE: Final = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|ISC|PSF|Python Software Foundation|Zlib|CC0|Unlicense|Public Domain|HPND)\b", re.IGNORECASE
)
_OTHER: Final = re.compile(r"GPL|GNU|MPL|Mozilla|EPL|Eclipse|CDDL|EUPL|CC.BY|Proprietary|Commercial", re.IGNORECASE)
_OTHER_HEADER: Final = re.compile(r"GNU (Lesser |Affero )?General Public License|\b[AL]?GPL\b|Mozilla Public License")
_HEADER: Final = 3_000
"""Characters within which a file names a licence of its own."""
_TOLD: Final = 100


def stated_licence(metadata: Message) -> str:
    """The expression, else the classifiers, else the first line of the licence field; empty when there is none."""
    if expression := metadata["License-Expression"]:
        return str(expression)
    classifiers = [one for one in metadata.get_all("Classifier", []) if one.startswith("License ::")]
    if named := [one.rpartition("::")[2].strip() for one in classifiers if one != "License :: OSI Approved"]:
        return " AND ".join(named)
    lines = str(metadata["License"] or "").strip().splitlines()
    return lines[0].strip()[:_TOLD] if lines else ""


def is_permissive(licence: str) -> bool:
    """Whether it names a permissive licence and no other kind; a choice between both is left out as well."""
    return bool(_PERMISSIVE.search(licence)) and not _OTHER.search(licence)


def names_another_licence(text: str) -> bool:
    """Whether a file's beginning names a licence with more duties than its package states."""
    return bool(_OTHER_HEADER.search(text[:_HEADER]))
