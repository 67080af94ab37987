"""Names on the wire. Owns: how ours are written there. Must not know: which names there are."""


def camel(name: str) -> str:
    """`deadline_ms` is `deadlineMs` on the wire."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
