"""Made-up sources for tests of holes and examples."""

from __future__ import annotations

from attrs import frozen


@frozen
class Text:
    """One file of a package."""

    package: str
    path: str
    text: str


CODE = '''"""A made-up module."""

import os


class Store:
    """Keeps values."""

    def __init__(self, limit: int = 10) -> None:
        self.limit = limit
        self._values: dict[str, list[int]] = {}

    def add(self, name: str, value: int) -> bool:
        # Only as many as there is room for.
        values = self._values.setdefault(name, [])
        if len(values) >= self.limit:
            return False
        values.append(value)
        print(f"added {value} to {name!r}", "größer", "🙂")
        return True

    def total(self, name: str) -> int:
        found = self._values.get(name, [])
        result = 0
        for value in found:
            result += value
        return result


def read_store(path: str, limit: int) -> Store:
    store = Store(limit)
    with open(os.path.join(path, "values.txt")) as lines:
        for line in lines:
            name, _, value = line.partition(":")
            store.add(name.strip(), int(value))
    return store
'''
OTHER = """from pkg.store import Store, read_store


def show(path: str) -> None:
\tstore = read_store(path, limit=3)
\tfor name in ("first", "second", "third"):
\t\tprint(name, store.total(name))
\tif not store.limit:
\t\traise ValueError("no limit")"""

PACKAGE = (
    Text("pkg", "pkg/store.py", CODE),
    Text("pkg", "pkg/show.py", OTHER),
    Text("other", "other/a.py", CODE[200:]),
)
