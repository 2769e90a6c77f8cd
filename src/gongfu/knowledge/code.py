"""All that is known of the files of a workspace, with tables by name; kept up to date file by file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final, NamedTuple

from gongfu.knowledge.languages import PYTHON
from gongfu.knowledge.model import Facts, Symbol

FAMILIES: Final = {
    "python": "python", "javascript": "script", "typescript": "script", "tsx": "script", "go": "go", "rust": "rust",
    "java": "java", "c": "c", "cpp": "c",
}  # fmt: skip
"""Languages that call each other."""


class Ref(NamedTuple):
    """A symbol by the path of its file and its number in it."""

    path: str
    number: int


class Code:
    """The tables. `put` and `drop` keep them right; `memo` is for what others work out, emptied with each change."""

    def __init__(self) -> None:
        self.files: dict[str, Facts] = {}
        self.memo: dict[object, object] = {}
        self._named: dict[str, dict[str, list[int]]] = {}
        self._used: dict[str, dict[str, list[int]]] = {}
        self._renamed: dict[str, dict[str, set[str]]] = {}
        self._stems: dict[str, set[str]] = {}
        self._folders: dict[str, set[str]] = {}
        self._ends: dict[str, set[str]] = {}

    def put(self, path: str, facts: Facts) -> None:
        """A file is new, or other than before."""
        self.drop(path)
        self.memo.clear()
        self.files[path] = facts
        for number, symbol in enumerate(facts.symbols):
            self._named.setdefault(symbol.name, {}).setdefault(path, []).append(number)
        for number, use in enumerate(facts.uses):
            self._used.setdefault(use.name, {}).setdefault(path, []).append(number)
        for one in facts.imports:
            if one.name and one.name not in (one.alias, "*"):
                self._renamed.setdefault(one.name, {}).setdefault(path, set()).add(one.alias)
        folder = posixpath.dirname(path)
        self._stems.setdefault(stem(path), set()).add(path)
        if path not in self._folders.setdefault(folder, set()):
            self._folders[folder].add(path)
            self._ends.setdefault(posixpath.basename(folder), set()).add(folder)

    def drop(self, path: str) -> None:
        """A file is gone."""
        facts = self.files.pop(path, None)
        if facts is None:
            return
        self.memo.clear()
        for symbol in facts.symbols:
            _without(self._named, symbol.name, path)
        for use in facts.uses:
            _without(self._used, use.name, path)
        for one in facts.imports:
            _without(self._renamed, one.name, path)
        folder = posixpath.dirname(path)
        self._stems[stem(path)].discard(path)
        self._folders[folder].discard(path)
        if not self._folders[folder]:
            del self._folders[folder]
            self._ends[posixpath.basename(folder)].discard(folder)

    def symbol(self, ref: Ref) -> Symbol:
        """The symbol itself."""
        return self.files[ref.path].symbols[ref.number]

    def family(self, path: str) -> str:
        """Which languages may call what is in a file."""
        return FAMILIES.get(self.files[path].language, "")

    def named(self, name: str, family: str = "") -> list[Ref]:
        """All symbols of a name, of one family of languages when it is given; by path and place."""
        found = self._named.get(name, {})
        return [
            Ref(path, number) for path in sorted(found) if not family or self.family(path) == family
            for number in found[path]
        ]  # fmt: skip

    @property
    def names(self) -> Iterator[str]:
        """Every name that a symbol has."""
        return iter(self._named)

    def in_file(self, path: str, name: str) -> list[int]:
        """The numbers of the symbols of a name in one file."""
        return self._named.get(name, {}).get(path, [])

    def uses(self, name: str) -> dict[str, list[int]]:
        """Where a name is used: numbers of uses by path."""
        return self._used.get(name, {})

    def aliases(self, name: str) -> dict[str, set[str]]:
        """The other names under which files import something called `name`."""
        return self._renamed.get(name, {})

    def folder(self, path: str) -> set[str]:
        """The files of a folder."""
        return self._folders.get(path, set())

    def folders_called(self, name: str) -> set[str]:
        """The folders whose last name this is."""
        return self._ends.get(name, set())

    def with_stem(self, name: str) -> set[str]:
        """The files that are called so, but for what follows the last dot; packages by the name of their folder."""
        return self._stems.get(name, set())


def stem(path: str) -> str:
    """The name of the module that a file is: its own, or that of its folder for `__init__`, `index` and `mod`."""
    name = posixpath.basename(path).partition(".")[0]
    if name in ("__init__", "index", "mod"):
        return posixpath.basename(posixpath.dirname(path))
    return name


def dotted(path: str) -> str:
    """The path of a Python file as a module, from the root of the workspace."""
    plain = path.rpartition(".")[0].removesuffix("/__init__")
    return plain.replace("/", ".")


def module_name(code: Code, path: str) -> str:
    """The name that a Python file is imported by: it starts below the last folder that is no package; "" for others."""
    if path not in code.files or code.files[path].language != PYTHON:
        return ""
    parts = dotted(path).split(".")
    folder = posixpath.dirname(path)
    own = len(parts) - 1 if not path.endswith("/__init__.py") else len(parts)
    start = own
    while start > 0 and folder and f"{folder}/__init__.py" in code.files:
        folder = posixpath.dirname(folder)
        start -= 1
    return ".".join(parts[start:])


def _without(table: dict[str, dict[str, list[int]]] | dict[str, dict[str, set[str]]], name: str, path: str) -> None:
    places = table.get(name)
    if places is not None:
        places.pop(path, None)
        if not places:
            del table[name]
