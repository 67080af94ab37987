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
from typing import Final

_TOKEN: Final = re.compile(
    r"""
      \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{36,}
    | \bgithub_pat_[A-Za-z0-9_]{40,}
    | \bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[\w\-]{20,}
    | \bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{10,} | \bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+
    | hooks\.slack\.com/services/T\w+/B\w+/\w+
    | \bAIza[\w\-]{35}
    | \bya29\.[\w\-]{20,}
    | \b[rs]k_(?:live|test)_[A-Za-z0-9]{16,} | \bwhsec_[A-Za-z0-9+/=]{16,}
    | \bsk-(?:ant-|proj-|or-|svcacct-)?[\w\-]{20,}
    | \bSG\.[\w\-]{16,}\.[\w\-]{16,}
    | \bnpm_[A-Za-z0-9]{36} | \bpypi-[\w\-]{50,} | \bhf_[A-Za-z0-9]{30,}
    | \bdop_v1_[a-f0-9]{64} | \bdapi[a-f0-9]{32}
    | \beyJ[\w\-]{8,}\.eyJ[\w\-]{8,}\.[\w\-]{8,}
    | \bAccountKey=[A-Za-z0-9+/]{40,}
    | \b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@"'<>{}$]{1,64}:[^\s/:@"'<>{}$]{3,64}@[\w.\-]+
    | "type"\s*:\s*"service_account"
    """,
    re.VERBOSE,
)
_BLOCK: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END |\Z)", re.DOTALL)

_ASSIGNMENT: Final = re.compile(
    r"""
    (?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_\-]?key|(?:access|private|auth|signing|account)[_\-]?key|creds?)
    [\w.\-]{0,40} ["'\]]{0,2} [ \t]{0,4} (?P<sign>=>|:=|[:=]) [ \t]{0,4}
    (?: (?P<quote>["'`]) (?P<quoted>[^"'`\s]{8,200}) (?P=quote) | (?P<plain>[^\s"'`,;(){}\[\]<>]{6,200}) [ \t]*;?$ )
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_PLACEHOLDER: Final = re.compile(
    r"""
    change[_\-]?(?:me|this|it) | example | placeholder | dummy | fake | sample | redacted | todo | your | insert | replace
    | x{4,} | \*{3,} | \.{3,} | 0{6,} | (?:123|abc){2} | \$\{? | %\( | \{\{? | ^https?://[^@]*$ | ^/ | ^\./ | ^<
    | \benv(?:iron)?\b | getenv | ^(?:none|null|true|false|undefined)$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_DOTENV_LINE: Final = re.compile(r"[ \t]*(?:export[ \t]+)?[A-Za-z_][\w.]*=\S*")
_COMMENT: Final = re.compile(r"[ \t]*(?:#|//|;|--|<!--|\*|$)")
_MIN_ENTROPY, _HIGH_ENTROPY = 2.5, 3.5
"""Bits a character. Words lie below the first, random text of 16 characters above the second."""
_LONG: Final = 16
_MOSTLY: Final = 0.5


def secret_lines(text: str) -> set[int]:
    """The lines of `text` that hold a secret, or a part of one."""
    found: set[int] = set()
    spans = [match.span() for match in _TOKEN.finditer(text)]
    spans += [match.span() for match in _BLOCK.finditer(text)]
    spans += [match.span() for match in _ASSIGNMENT.finditer(text) if _is_secret(match)]
    for start, end in spans:
        first = text.count("\n", 0, start)
        found.update(range(first, first + text.count("\n", start, end) + 1))
    return found


def is_secret_text(text: str) -> bool:
    """Whether a whole file is to be left alone: it is mostly secrets, or a list of settings with one among them."""
    secrets = secret_lines(text)
    if not secrets:
        return False
    lines = [line for line in text.split("\n") if not _COMMENT.match(line) or "-----" in line]
    if len(secrets) >= len(lines) * _MOSTLY or '"service_account"' in text:
        return True
    return all(_DOTENV_LINE.fullmatch(line.rstrip("\r")) for line in lines)


def _is_secret(match: re.Match[str]) -> bool:
    quoted, plain = match["quoted"], match["plain"]
    value = quoted or plain
    if _PLACEHOLDER.search(value):
        return False
    mixed = re.search(r"\d", value) is not None and re.search(r"[^\W\d_]", value) is not None
    if quoted:
        return mixed and _entropy(value) >= _MIN_ENTROPY
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.end()]
    if _DOTENV_LINE.fullmatch(line) and not value.isdigit():  # code has blanks around its signs
        return True
    return mixed and len(value) >= _LONG and _entropy(value) >= _HIGH_ENTROPY and "." not in value


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
