"""Secrets by name. Owns: which files hold credentials by what they are called. Must not know: contents.

Two decisions. `.env.example` and its like hold placeholders by custom and are checked in, so their name says nothing
against them; their contents are looked at all the same. `secrets.py` or `credentials.ts` are code that deals with
secrets, as the standard library's own `secrets.py`; so those names count for data only.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

_FOLDERS: Final = {".ssh", ".aws", ".gnupg", ".kube", ".azure", ".gcloud", ".password-store"}
"""Whatever lies in one of them."""

_NAMES: Final = {
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".htdigest",
    ".git-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".boto",
    ".s3cfg",
    ".vault-token",
    ".terraformrc",
    "terraform.rc",
    "kubeconfig",
    "master.key",
    "wp-config.php",
}

_PATTERN: Final = re.compile(
    r"""
      \.env(?!\.(?:example|sample|template|tmpl|dist|defaults?|schema)$)(?:[.\-_].*)? | [^/]*\.env
    | id_(?:rsa|dsa|ecdsa|ed25519)[^/]*(?<!\.pub)
    | .*\.(?:pem|key|p8|p12|pfx|pkcs12|ppk|jks|keystore|bks|kdbx?|gpg|pgp|ovpn|agekey|kubeconfig|secret|keytab)
    | .*\.tfstate(?:\..*)? | .*\.tfvars(?:\.json)?
    | (?:.*[.\-_])?service[-_]?account(?:[.\-_].*)?\.json
    | (?:.*[.\-_])?(?:secrets?|credentials?|passwords?)(?:[.\-_][\w.\-]*)?
      (?:\.(?:ya?ml|json5?|toml|ini|cfg|conf|config|properties|xml|plist|txt|csv|enc|dec|bak|old|gpg|age))?
    """,
    re.VERBOSE,
)

_CODE: Final = re.compile(
    r".*\.(?:pyi?|[cm]?[jt]sx?|vue|go|rs|java|kts?|scala|cs|fs|c|h|cc|cpp|hpp|mm?|swift|dart|php|rb|lua|p[lm]|r|jl|exs?"
    r"|erl|hs|mli?|clj|zig|nim|sh|bash|zsh|sql|proto|html?|s?css|tf|nix|md|rst|tex|el|vim)"
)
_DOCKER: Final = (".docker", "config.json")


def is_secret_name(path: str) -> bool:
    """Whether the name of a file, or of a folder above it, says that it holds credentials."""
    parts = [part.lower() for part in PurePath(path).parts]
    if not parts:
        return False
    name = parts[-1]
    if name in _NAMES or not _FOLDERS.isdisjoint(parts[:-1]) or tuple(parts[-2:]) == _DOCKER:
        return True
    return _PATTERN.fullmatch(name) is not None and _CODE.fullmatch(name) is None
