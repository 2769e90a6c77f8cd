"""The index of a code base: kept by the content of files, and brought up to date before each answer."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import anyio
import msgspec
from anyio import to_thread

from gongfu.config.paths import Places
from gongfu.core.base import Base
from gongfu.knowledge.apart import FEW, Wanted, is_tame, read_apart
from gongfu.knowledge.code import Code
from gongfu.knowledge.docs import ModuleDoc, files_of, module_doc
from gongfu.knowledge.finding import Finder, Match, find, pick
from gongfu.knowledge.graph import Edge, Graph, Impact
from gongfu.knowledge.model import Facts, pack, unpack
from gongfu.knowledge.parse import content_key, parse
from gongfu.knowledge.reading import read_source
from gongfu.knowledge.tree import Stamp, Tree
from gongfu.store.symbols import FileRow, SymbolStore, forget_old, store_path
from gongfu.workspace.root import Workspace

Answer = TypeVar("Answer")
_ROUNDS: Final = 3
_MUCH: Final = 512 << 10


class Fresh(Base, frozen=True):
    """What one refresh did: files there are, read (their bytes were looked at), parsed, and gone; seconds it took."""

    files: int = 0
    read: int = 0
    parsed: int = 0
    gone: int = 0
    seconds: float = 0.0


class Status(Base, frozen=True):
    """What the index holds. `languages` has (files, lines, symbols) of each; `skipped` counts files by problem."""

    languages: dict[str, tuple[int, int, int]]
    skipped: dict[str, int]
    errors: tuple[str, ...]
    bytes: int
    last: Fresh
    truncated: bool = False


class _Known(Base, frozen=True):
    digest: bytes
    stamp: Stamp


class Index:
    """The index of one workspace. Every question is answered for the files as they are when it is asked.

    Tasks may share it; several processes may have an index of the same workspace. Paths are relative to its root.
    """

    def __init__(self, workspace: Workspace, folder: Path | None, env: Mapping[str, str]) -> None:
        """Use `open_index`. `folder` is where stores lie; None keeps nothing on disk."""
        self.workspace: Final = workspace
        self.code: Final = Code()
        self.graph: Final = Graph(self.code)
        self.finder: Final = Finder(self.code)
        self._folder = folder
        self._env = env
        self._tree = Tree(workspace)
        self._known: dict[str, _Known] = {}
        self._store: SymbolStore | None = None
        self._opened = False
        self._lock = anyio.Lock()
        self._last = Fresh()

    # --- questions --------------------------------------------------------------------------------------------------

    async def refresh(self) -> Fresh:
        """Bring it up to date with the files; what it did."""
        async with self._lock:
            return await self._refresh()

    async def ask(self, question: Callable[[], Answer]) -> Answer:
        """Bring it up to date and answer a question about `code` in a thread, while nothing changes it."""
        async with self._lock:
            await self._refresh()
            return await to_thread.run_sync(question)

    async def symbols(self, path: str) -> dict[str, Facts]:
        """What is known of a file, of the files in a folder or of a module, by path; {} when there is none."""
        return await self.ask(lambda: {p: self.code.files[p] for p in files_of(self.code, path)})

    async def find(
        self, query: str, *, kinds: Iterable[str] = (), wanted: Callable[[str], bool] | None = None, limit: int = 30
    ) -> tuple[list[Match], int]:
        """The symbols nearest to a query and how many there are; see `finding.find`."""
        return await self.ask(lambda: find(self.finder, query, kinds=kinds, wanted=wanted, limit=limit))

    async def callers(self, name: str) -> list[Edge]:
        """Who uses what `name` means (see `finding.pick`), certain ones first."""
        return await self.ask(lambda: self.graph.callers(pick(self.code, name)))

    async def callees(self, name: str) -> list[Edge]:
        """What the symbols that `name` means call."""
        return await self.ask(lambda: self.graph.callees(pick(self.code, name)))

    async def impact(self, target: str, *, depth: int = 4) -> Impact:
        """What a change of a file, folder, module or symbol may touch, its tests included."""

        def answer() -> Impact:
            files = files_of(self.code, target) if ":" not in target else []
            return self.graph.impact([] if files else pick(self.code, target), files, depth=depth)

        return await self.ask(answer)

    async def module_doc(self, name: str, *, private: bool = False) -> list[ModuleDoc]:
        """The outlines of a file, the files of a folder, or a module."""
        return await self.ask(lambda: [module_doc(self.code, p, private=private) for p in files_of(self.code, name)])

    async def status(self) -> Status:
        """What it holds, up to date."""
        return await self.ask(self._status)

    async def rebuild(self) -> Fresh:
        """Forget everything, what is on disk included, and read all files again."""
        async with self._lock:
            await to_thread.run_sync(self._forget)
            return await self._refresh()

    async def close(self) -> None:
        """Let go of the store; the next question opens it again."""
        async with self._lock:
            if self._store is not None:
                await to_thread.run_sync(self._store.close)
                self._store, self._opened = None, False

    # --- up to date -------------------------------------------------------------------------------------------------

    async def _refresh(self) -> Fresh:
        started = time.monotonic()
        read = parsed = gone = 0
        for _ in range(_ROUNDS):
            work = await to_thread.run_sync(self._look)
            read, parsed, gone = read + work.read, parsed + work.parsed, gone + work.gone
            if not work.apart:
                break
            found = await read_apart(work.apart, self._env)
            parsed += len(found)
            if await to_thread.run_sync(self._take, work, found):
                break
        self._last = Fresh(
            files=len(self._known), read=read, parsed=parsed, gone=gone, seconds=time.monotonic() - started
        )
        return self._last

    def _look(self) -> _Work:
        """Compare the files with what is known, read what may have changed, parse what is little. In a thread."""
        self._open()
        present = self._tree.look()
        work = _Work()
        for path in self._known.keys() - present.keys():
            del self._known[path]
            self.code.drop(path)
            work.dropped.append(path)
        for path, (stamp, language) in present.items():
            known = self._known.get(path)
            if known is None or known.stamp != stamp or not stamp.settled:
                self._read(path, language, work)
        self._sort_out(work)
        work.gone = len(work.dropped)
        self._keep(work)
        return work

    def _read(self, path: str, language: str, work: _Work) -> None:
        found = read_source(os.path.join(self.workspace.root, path))  # noqa: PTH118
        work.read += 1
        if found is None:
            if self._known.pop(path, None) is not None:
                self.code.drop(path)
                work.dropped.append(path)
            return
        raw, stamp = found
        digest = content_key(os.path.basename(path), language, raw)  # noqa: PTH119
        known = self._known.get(path)
        if known is not None and known.digest == digest:
            if known.stamp != stamp:
                self._known[path] = _Known(digest=digest, stamp=stamp)
                work.rows.append(path)
            return
        work.changed[path] = (language, raw, _Known(digest=digest, stamp=stamp))

    def _sort_out(self, work: _Work) -> None:
        """Take facts that are known by content; parse the rest here when it is little, else leave it for apart."""
        wanted = {known.digest for _, _, known in work.changed.values()}
        stored = self._store.get(wanted) if self._store is not None and wanted else {}
        left: list[str] = []
        for path, (_, _, known) in work.changed.items():
            facts = _unpacked(stored.get(known.digest))
            if facts is not None:
                self._set(path, known, facts, work)
            elif known.digest in work.alike:
                work.alike[known.digest].append(path)
            else:
                work.alike[known.digest] = [path]
                left.append(path)
        few = len(left) <= FEW and sum(len(work.changed[p][1]) for p in left) <= _MUCH
        for path in left:
            language, raw, known = work.changed[path]
            if few and is_tame(raw):
                facts = parse(os.path.basename(path), language, raw)  # noqa: PTH119
                work.parsed += 1
                self._found(known.digest, facts, work, work)
            else:
                whole = os.path.join(self.workspace.root, path)  # noqa: PTH118
                name = os.path.basename(path)  # noqa: PTH119
                work.apart.append(Wanted(path=whole, name=name, language=language, size=len(raw)))
                work.waiting[whole] = path

    def _set(self, path: str, known: _Known, facts: Facts, work: _Work) -> None:
        self._known[path] = known
        self.code.put(path, facts)
        work.rows.append(path)

    def _found(self, digest: bytes, facts: Facts, work: _Work, rows: _Work) -> None:
        """Facts of a content are for all files that have it."""
        rows.contents[digest] = pack(facts)
        for path in work.alike[digest]:
            self._set(path, work.changed[path][2], facts, rows)

    def _take(self, work: _Work, found: dict[str, tuple[bytes, Facts]]) -> bool:
        """What was read apart; False when a file changed meanwhile, and has to be looked at again."""
        whole = True
        rows = _Work()
        for place, path in work.waiting.items():
            digest, facts = found.get(place, (None, None))
            _, _, known = work.changed[path]
            if facts is not None and digest in (known.digest, b""):
                self._found(known.digest, facts, work, rows)
            else:
                whole = False
        self._keep(rows)
        return whole

    # --- on disk ----------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._opened:
            return
        self._opened = True
        if self._folder is None:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:  # nothing can be kept: it works without
            return
        self._store = SymbolStore(store_path(self._folder, self.workspace.root))
        forget_old(self._folder, self._store.path)
        if self._known:  # it was closed meanwhile
            return
        files, contents = self._store.load()
        known = {digest: facts for digest, data in contents.items() if (facts := _unpacked(data)) is not None}
        for row in files:
            facts = known.get(row.digest)
            if facts is not None:
                stamp = Stamp(row.size, row.modified, row.changed, row.number)
                self._known[row.path] = _Known(digest=row.digest, stamp=stamp)
                self.code.put(row.path, facts)

    def _keep(self, work: _Work) -> None:
        if self._store is None or not (work.rows or work.contents or work.dropped):
            return
        rows: list[FileRow] = []
        for path in dict.fromkeys(work.rows):
            known = self._known[path]
            stamp = known.stamp
            changed = stamp.changed if stamp.settled else -1  # never the same: it is read again
            rows.append(
                FileRow(
                    path=path, digest=known.digest, size=stamp.size, modified=stamp.modified, changed=changed,
                    number=stamp.number,
                )
            )  # fmt: skip
        self._store.put(rows, work.contents, work.dropped, tidy=len(rows) > FEW)

    def _forget(self) -> None:
        self._open()
        for path in list(self._known):
            self.code.drop(path)
        self._known.clear()
        if self._store is not None:
            self._store.clear()

    def _status(self) -> Status:
        languages: dict[str, list[int]] = {}
        skipped: Counter[str] = Counter()
        errors: list[str] = []
        for path in sorted(self.code.files):
            facts = self.code.files[path]
            if facts.problem:
                skipped[facts.problem] += 1
                continue
            row = languages.setdefault(facts.language, [0, 0, 0])
            for place, number in enumerate((1, facts.lines, len(facts.symbols))):
                row[place] += number
            if facts.errors:
                errors.append(path)
        return Status(
            languages={name: (row[0], row[1], row[2]) for name, row in sorted(languages.items())},
            skipped=dict(sorted(skipped.items())), errors=tuple(errors), last=self._last,
            bytes=self._store.size() if self._store is not None else 0, truncated=self._tree.truncated,
        )  # fmt: skip


class _Work:
    """What one look found to do."""

    def __init__(self) -> None:
        self.read = self.parsed = self.gone = 0
        self.changed: dict[str, tuple[str, bytes, _Known]] = {}
        self.contents: dict[bytes, bytes] = {}
        self.alike: dict[bytes, list[str]] = {}
        self.rows: list[str] = []
        self.dropped: list[str] = []
        self.apart: list[Wanted] = []
        self.waiting: dict[str, str] = {}


def _unpacked(data: bytes | None) -> Facts | None:
    if data is None:
        return None
    try:
        return unpack(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def make_index(root: Path, places: Places | None, *, env: Mapping[str, str] | None = None) -> Index:
    """See `knowledge.open_index`."""
    workspace = Workspace(root, root)
    folder = places.cache / "symbols" if places is not None else None
    return Index(workspace, folder, os.environ if env is None else env)
