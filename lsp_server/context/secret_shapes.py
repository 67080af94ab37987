"""Secrets by shape. Owns: what credentials look like in text. Must not know: files, names of files.

A small table in place of a scanner: it runs at keystrokes and over whole workspaces, and only has to say "leave this
alone". Formats as their issuers document them: AWS "IAM identifiers" (unique prefixes), GitHub "token formats", GitLab
"token overview", Slack "token types", Google Cloud "API keys", Stripe "API keys", SendGrid, npm and PyPI "API tokens",
Hugging Face "user access tokens", RFC 7519 (JWT), RFC 7468 and RFC 4880 (private key blocks), RFC 3986 (user
information in an address).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

_TOKENS: Final = (
    *(f"{prefix}[A-Z2-7]{{16}}" for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")),
    r"gh[pousr]_[A-Za-z0-9]{36,}",
    r"github_pat_\w{40,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[\w\-]{20,}",
    r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,}",
    r"xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+",
    r"hooks\.slack\.com/services/T\w+/B\w+/\w+",
    r"AIza[\w\-]{35}",
    r"ya29\.[\w\-]{20,}",
    *(rf"{prefix}k_(?:live|test)_[A-Za-z0-9]{{16,}}" for prefix in "rs"),
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"sk-(?=[\w\-]{0,60}\d)[\w\-]{20,}",
    r"SG\.[\w\-]{16,}\.[\w\-]{16,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[\w\-]{50,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"dop_v1_[a-f0-9]{64}",
    r"dapi[a-f0-9]{32}",
    r"eyJ[\w\-]{8,400}\.eyJ[\w\-]{8,4000}\.[\w\-]{8,}",
    r"AccountKey=[A-Za-z0-9+/]{40,}",
    r"""://[^\s/:@"'<>{}$]{1,64}:[^\s/:@"'<>{}$]{3,64}@[\w.\-]""",
    r""""service_account\"""",
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END |\Z)",
)
_TOKEN_PATTERNS: Final = tuple(re.compile(token) for token in _TOKENS)
"""Each begins with plain letters, so that the search for it skips quickly."""

_WORDS: Final = "passw passphrase passcode pwd secret token apikey api_key api-key cred"
_KEYS: Final = (
    *_WORDS.split(),
    *(f"{kind}{sign}key" for kind in ("access", "private", "auth", "signing", "account") for sign in ("", "_", "-")),
)
_VALUE: Final = re.compile(
    r"""
    [\w.\-]{0,48} ["'\]]{0,2} [ \t]{0,4} (?:=>|:=|[:=]) [ \t]{0,4}
    (?: (?P<quote>["'`]) (?P<quoted>[^"'`\s]{8,200}) (?P=quote) | (?P<plain>[^\s"'`,;(){}\[\]<>]{6,200}) [ \t]*;?\r?$ )
    """,
    re.VERBOSE | re.MULTILINE,
)
_PLACEHOLDER: Final = re.compile(
    r"""
    change[_\-]?(?:me|this|it) | example | placeholder | dummy | fake | sample | redacted | todo | your
    | insert | replace
    | x{4,} | \*{3,} | \.{3,} | 0{6,} | (?:123|abc){2} | \$\{? | %\( | \{\{? | ^https?://[^@]*$ | ^/ | ^\./ | ^<
    | \benv(?:iron)?\b | getenv | ^(?:none|null|true|false|undefined)$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DOTENV_LINE: Final = re.compile(r"[ \t]*(?:export[ \t]+)?[A-Za-z_][\w.]*=\S*")
_SERVICE_ACCOUNT: Final = re.compile(r'"type"\s*:\s*"service_account"')
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//|;|--|<!--|\*|$)")
_MIN_ENTROPY, _HIGH_ENTROPY = 2.5, 3.5
"""Bits a character. Words lie below the first, random text of 16 characters above the second."""
_LONG: Final = 16
_MOSTLY: Final = 0.5


def secret_lines(text: str) -> set[int]:
    """The lines of `text` that hold a secret, or a part of one."""
    found: set[int] = set()
    for start, end in (*_tokens(text), *_assignments(text)):
        first = text.count("\n", 0, start)
        found.update(range(first, first + text.count("\n", start, end) + 1))
    return found


def is_secret_text(text: str, secrets: set[int] | None = None) -> bool:
    """Whether a whole file is to be left alone: it is mostly secrets, or a list of settings with one among them.

    `secrets`: its secret lines, where they are known.
    """
    secrets = secret_lines(text) if secrets is None else secrets
    if not secrets:
        return False
    lines = [line for line in text.split("\n") if not _COMMENT.match(line) or "-----" in line]
    if len(secrets) >= len(lines) * _MOSTLY or _SERVICE_ACCOUNT.search(text):
        return True
    return all(_DOTENV_LINE.fullmatch(line.rstrip("\r")) for line in lines)


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    for pattern in _TOKEN_PATTERNS:
        for match in pattern.finditer(text):
            before = text[match.start() - 1 : match.start()]
            if not before.isalnum() or match[0].startswith("://"):
                yield match.span()


def _assignments(text: str) -> Iterator[tuple[int, int]]:
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters grow; places would not agree
        lowered = text
    for key in _KEYS:
        start = lowered.find(key)
        while start >= 0:
            match = _VALUE.match(text, start + len(key))
            if match is not None and _is_secret(match):
                yield start, match.end()
            start = lowered.find(key, start + len(key))


def _is_secret(match: re.Match[str]) -> bool:
    quoted, plain = match["quoted"], match["plain"]
    value = quoted or plain
    if _PLACEHOLDER.search(value):
        return False
    mixed = re.search(r"\d", value) is not None and re.search(r"[^\W\d_]", value) is not None
    if quoted:
        return mixed and _entropy(value) >= _MIN_ENTROPY
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.end()].rstrip(" \t\r;")
    if _DOTENV_LINE.fullmatch(line) and not value.isdigit():  # code has blanks around its signs
        return True
    return mixed and len(value) >= _LONG and _entropy(value) >= _HIGH_ENTROPY and "." not in value


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
