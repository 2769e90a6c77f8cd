"""Notes: a knowledge base of short texts with titles and tags, found in two languages, with the history of each."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.retrieval.rank import Doc, rank
from gongfu.store.versions import Versions

LONGEST = 200_000
"""Characters of one note."""
_TITLE = 200
_LEAST = 0.03


class Note(Base, frozen=True):
    """One note. `at` is when it was written, seconds since 1970."""

    title: str
    text: str
    tags: tuple[str, ...] = ()
    at: float = 0.0
    version: int = 1


class _Body(Base, frozen=True):
    text: str
    tags: tuple[str, ...] = ()


class Notes:
    """The notes of one project, or the person's own."""

    def __init__(self, versions: Versions) -> None:
        self._versions = versions

    def add(self, title: str, text: str, tags: Sequence[str] = ()) -> Note:
        """A new note. ToolFailure when there is one of that title already."""
        name = _title(title)
        if self._versions.get(name) is not None:
            raise ToolFailure(f"there is a note {name!r} already; update it, or take another title")
        return self._put(name, text, tags)

    def update(self, title: str, text: str, tags: Sequence[str] | None = None, *, append: bool = False) -> Note:
        """Another text for a note, or more of it with `append`. ToolFailure when there is none."""
        old = self.read(title)
        whole = f"{old.text.rstrip()}\n\n{text}" if append else text
        return self._put(old.title, whole, old.tags if tags is None else tags)

    def read(self, title: str, version: int | None = None) -> Note:
        """A note, as it is or as it was. ToolFailure with the nearest titles when there is none."""
        name = _title(title)
        found = self._versions.get(name, version)
        if found is None:
            raise ToolFailure(self._absent(name, version))
        body = msgspec.json.decode(found.body, type=_Body)
        return Note(title=found.name, text=body.text, tags=body.tags, at=found.at, version=found.version)

    def all(self) -> list[Note]:
        """Every note, the newest first."""
        found: list[Note] = []
        for document in self._versions.all():
            body = msgspec.json.decode(document.body, type=_Body)
            found.append(
                Note(title=document.name, text=body.text, tags=body.tags, at=document.at, version=document.version)
            )
        return found

    def search(self, query: str, limit: int = 5) -> list[Note]:
        """The notes that serve a query, best first."""
        notes = {note.title: note for note in self.all()}
        docs = [
            Doc(id=n.title, text=f"{n.title}\n{n.title}\n{' '.join(n.tags)}\n{n.text}", at=n.at) for n in notes.values()
        ]
        return [notes[hit.id] for hit in rank(query, docs, now=time.time(), limit=limit) if hit.score >= _LEAST]

    def versions(self, title: str) -> list[Note]:
        """All versions of a note, the newest first. ToolFailure when there is none."""
        name = self.read(title).title
        return [self.read(name, document.version) for document in self._versions.history(name)]

    def delete(self, title: str) -> Note:
        """Delete a note with its history; the note that went. ToolFailure when there is none."""
        note = self.read(title)
        self._versions.delete(note.title)
        return note

    def _put(self, name: str, text: str, tags: Sequence[str]) -> Note:
        if not text.strip():
            raise ToolFailure("text is empty; nothing was written")
        if len(text) > LONGEST:
            raise ToolFailure(f"a note may have {LONGEST:,} characters, not {len(text):,}; nothing was written")
        kept = tuple(dict.fromkeys(tag for one in tags if (tag := " ".join(one.split())[:60])))[:20]
        body = msgspec.json.encode(_Body(text=text, tags=kept)).decode()
        written = self._versions.put(name, body, at=time.time())
        return Note(title=name, text=text, tags=kept, at=written.at, version=written.version)

    def _absent(self, name: str, version: int | None) -> str:
        if version is not None and self._versions.get(name) is not None:
            known = ", ".join(str(document.version) for document in self._versions.history(name))
            return f"note {name!r} has no version {version}; it has: {known}"
        from difflib import get_close_matches  # only for the rare mistake

        near = get_close_matches(name, [document.name for document in self._versions.all()], n=3, cutoff=0.4)
        return f"there is no note {name!r}." + (f" Near: {', '.join(near)}." if near else " `index` lists all titles.")


def _title(title: str) -> str:
    name = " ".join(title.split())
    if not name:
        raise ToolFailure("title is empty; every note has one")
    if len(name) > _TITLE:
        raise ToolFailure(f"title is longer than {_TITLE} characters; nothing was written")
    return name
