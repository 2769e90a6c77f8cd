"""The tools move_file, copy_file and delete_file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.entries import MOST_BELOW, Below, Entries, Entry
from gongfu.toolkit.files import check_fresh
from gongfu.toolkit.grep import in_thread
from gongfu.toolkit.places import explained
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace import moves
from gongfu.workspace.files import digest, read_bytes
from gongfu.workspace.root import Located, Workspace, is_below
from gongfu.workspace.trash import put_in_trash

_MOST_PATHS = 500
_KEPT_FILE = 10 * 1024 * 1024  # what an undo keeps of one file for certain
_NAMED = 20


class MoveTools:
    """move_file, copy_file and delete_file of one session.

    `env` tells where the trash is. `kept()` says whether the running turn can be undone.
    """

    def __init__(
        self, workspace: Workspace, reads: ReadLog, *, env: Mapping[str, str], kept: Callable[[], bool]
    ) -> None:
        self._workspace = workspace
        self._entries = Entries(workspace)
        self._reads = reads
        self._env = env
        self._kept = kept

    # --- move_file and copy_file ----------------------------------------------------------------------------------

    async def _move_facts(self, args: dict[str, Any]) -> Facts:
        return await anyio.to_thread.run_sync(partial(self._pair_facts, args, moves_it=True), abandon_on_cancel=True)

    async def _copy_facts(self, args: dict[str, Any]) -> Facts:
        return await anyio.to_thread.run_sync(partial(self._pair_facts, args, moves_it=False), abandon_on_cancel=True)

    def _pair_facts(self, args: dict[str, Any], *, moves_it: bool) -> Facts:
        source, target = self._pair(args["source"], args["target"], again=False)
        below = self._entries.below(source, write=moves_it)
        written = (str(target.path),)
        taken = (str(source.path), *below.protected) if moves_it else ()
        there = tuple(str(target.path / Path(p).relative_to(source.path)) for p in (*below.folders, *below.files))
        lost = self._entries.below(target, write=True) if args.get("overwrite") else None
        return Facts(
            access=("write",),
            paths=(str(source.path), *below.protected, *written, *(lost.protected if lost else ())),
            writes=(*taken, *written, *(lost.protected if lost else ())),
            below=(*(below.files if moves_it else ()), *there, *(lost.files if lost else ())),
            title=f"{source.shown} → {target.shown}",
        )

    def _pair_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        paths = (self._entries.locate(args["source"]).path, self._workspace.locate(args["target"]).path)
        return tuple(Claim(resource=str(path), write=True) for path in paths)

    def _pair(self, source_text: str, target_text: str, *, again: bool) -> tuple[Entry, Entry]:
        source = self._entries.again(source_text) if again else self._entries.judge(source_text)
        self._entries.there(source, source_text)
        target = self._entries.into(source, target_text, again=again)
        if source.path == target.path:
            raise ToolFailure(f"source and target are both {source.shown}; nothing was done")
        if source.is_folder and source.path in target.path.parents:
            raise ToolFailure(f"{source.shown} cannot go into itself; nothing was done")
        if target.path in source.path.parents:
            raise ToolFailure(f"{target.shown} holds {source.shown} and is not replaced by it; nothing was done")
        return source, target

    @tool(access="write", facts=_move_facts, claims=_pair_claims)
    async def move_file(self, source: str, target: str, overwrite: bool = False) -> Outcome:
        one, other = self._pair(source, target, again=True)
        self._entries.check_whole([one], "moved")
        left = await in_thread(partial(self._carry, one, other, overwrite, True))
        self._reads.forget_below(other.path)
        self._reads.moved(one.path, other.path)
        what = await anyio.to_thread.run_sync(_counted, other.path)
        remains = f" The old one could not be removed as a whole: {left} is still there." if left else ""
        return Outcome(text=f"Moved {one.shown} → {other.shown} ({what}).{remains}", display=text_display("", what))

    @tool(access="write", facts=_copy_facts, claims=_pair_claims)
    async def copy_file(self, source: str, target: str, overwrite: bool = False) -> Outcome:
        one, other = self._pair(source, target, again=True)
        await in_thread(partial(self._carry, one, other, overwrite, False))
        self._reads.forget_below(other.path)
        self._reads.copied(one.path, other.path)
        what = await anyio.to_thread.run_sync(_counted, other.path)
        return Outcome(text=f"Copied {one.shown} → {other.shown} ({what}).", display=text_display("", what))

    def _carry(self, source: Entry, target: Entry, overwrite: bool, moves_it: bool, stop: moves.Stop) -> str:
        if overwrite and target.exists:
            self._check_seen(target)
        with explained(_as_located(source, target)):
            made = _make_parents(target.path)
            try:
                if moves_it:
                    return moves.move(source.path, target.path, overwrite=overwrite, stop=stop)
                moves.copy(source.path, target.path, overwrite=overwrite, stop=stop)
            except FileExistsError:
                raise ToolFailure(
                    f"{target.shown} exists already; nothing was changed. Choose another name, or set overwrite=true "
                    "to replace it."
                ) from None
            except (IsADirectoryError, NotADirectoryError):
                if not target.exists:
                    raise
                kind = "folder" if target.is_folder else "file"
                raise ToolFailure(f"{target.shown} is a {kind} and is not replaced by {source.shown}") from None
            except moves.Stopped:
                raise ToolFailure("stopped; nothing was changed") from None
            finally:
                if not target.exists:
                    _take_away(made)
        return ""

    def _check_seen(self, target: Entry) -> None:
        """ToolFailure when the file that would be replaced is not what the model last saw of it."""
        seen = self._reads.seen(target.path)
        if seen is not None and not target.is_folder and not target.path.is_symlink():
            with explained(_as_located(target, target)):
                raw, _ = read_bytes(target.path)
            check_fresh(_as_located(target, target), seen.digest, digest(raw))

    # --- delete_file ----------------------------------------------------------------------------------------------

    async def _delete_facts(self, args: dict[str, Any]) -> Facts:
        return await anyio.to_thread.run_sync(self._facts_of_deletion, args, abandon_on_cancel=True)

    def _facts_of_deletion(self, args: dict[str, Any]) -> Facts:
        found = self._to_delete(args["paths"], again=False)
        below = [self._entries.below(entry, write=True) for entry in found]
        writes = tuple(dict.fromkeys([*(str(e.path) for e in found), *(p for b in below for p in b.protected)]))
        title = found[0].shown if len(found) == 1 else f"{len(found)} paths"
        items = [_leaving(entry, b) for entry, b in zip(found, below, strict=True)]
        preview: Display = {"kind": "list", "items": items, "total": len(items)}
        facts = Facts(
            access=("write",), paths=writes, writes=writes, below=tuple(f for b in below for f in b.files), title=title,
            preview=preview,
        )  # fmt: skip
        if not args.get("forever"):
            return facts
        command = shlex.join(["rm", "-rf", "--", *(str(entry.path) for entry in found)])
        return Facts(
            access=("write", "execute"), paths=writes, writes=writes, below=facts.below, title=title, command=command,
            cwd=str(self._workspace.directory), preview=preview,
        )  # fmt: skip

    def _delete_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return tuple(Claim(resource=str(self._entries.locate(path).path), write=True) for path in args["paths"])

    def _to_delete(self, paths: Sequence[str], *, again: bool) -> list[Entry]:
        if not paths:
            raise ToolFailure("there is nothing to delete; give paths")
        if len(paths) > _MOST_PATHS:
            raise ToolFailure(f"at most {_MOST_PATHS} paths in one call; arrived: {len(paths):,}")
        found: dict[Path, Entry] = {}
        for text in paths:
            entry = self._entries.again(text) if again else self._entries.judge(text)
            self._entries.there(entry, text)
            found[entry.path] = entry
        self._entries.check_whole(found.values(), "deleted")
        return [entry for path, entry in found.items() if not any(p in found for p in path.parents)]

    @tool(access="write", facts=_delete_facts, claims=_delete_claims)
    async def delete_file(self, paths: list[str], forever: bool = False) -> Outcome:
        found = self._to_delete(paths, again=True)
        return await anyio.to_thread.run_sync(self._delete, found, forever)

    def _delete(self, found: Sequence[Entry], forever: bool) -> Outcome:
        counts: dict[Path, moves.Contents] = {}
        for entry in found:
            with explained(_as_located(entry, entry)):  # it may be gone since it was judged
                counts[entry.path] = moves.contents(entry.path)
        kept = self._kept()
        trashed: list[str] = []
        gone: list[str] = []
        lasting: list[str] = []
        for entry in found:
            undoable = kept and self._is_kept(entry, counts[entry.path])
            try:
                with explained(_as_located(entry, entry)):
                    place = "" if forever else put_in_trash(entry.path, self._env)
                    if not place and not forever and not undoable:
                        raise ToolFailure(
                            f"{entry.shown} was left: there is no trash here, and an undo would not bring it back. "
                            "forever=true deletes it for good."
                        )
                    if not place:
                        moves.remove(entry.path)
            except ToolFailure as failure:
                done = [*trashed, *gone]
                before = f" Deleted before it: {_named(done)}." if done else ""
                raise ToolFailure(f"{failure}{before}") from None
            (trashed if place else gone).append(entry.shown)
            if not undoable:
                lasting.append(entry.shown)
            self._reads.forget_below(entry.path)
        return _told(found, list(counts.values()), trashed, gone, lasting)

    def _is_kept(self, entry: Entry, what: moves.Contents) -> bool:
        """Whether an undo brings all of it back."""
        if not is_below(entry.path, self._workspace.root) or ".git" in entry.path.parts or what.odd or what.most:
            return False
        if what.files + what.folders > MOST_BELOW:
            return False
        return all(s.st_size <= _KEPT_FILE and ".git" not in p.parts for p, s in moves.entries(entry.path))


def _leaving(entry: Entry, below: Below) -> str:
    """A path that is to be deleted, with how much lies in it, for who is asked."""
    if not entry.is_folder:
        return f"- {entry.shown}"
    more = "+" if len(below.files) + len(below.folders) >= MOST_BELOW else ""
    return f"- {entry.shown}/ ({len(below.files):,}{more} file{'' if len(below.files) == 1 else 's'})"


def _told(
    found: Sequence[Entry], counts: Sequence[moves.Contents], trashed: list[str], gone: list[str], lasting: list[str]
) -> Outcome:
    total = moves.Contents(
        files=sum(c.files for c in counts), folders=sum(c.folders for c in counts), bytes=sum(c.bytes for c in counts)
    )
    what = _size(total)
    back: list[str] = []
    if trashed:
        back.append("in the trash" + (f": {_named(trashed)}" if gone else ""))
    undoable = [e.shown for e in found if e.shown not in lasting]
    if undoable:
        back.append("`gongfu undo` brings back " + ("all" if not lasting else _named(undoable)))
    lost = [name for name in gone if name in lasting]
    if lost:
        back.append(f"for good: {_named(lost)}")
    text = f"Deleted {_named([e.shown for e in found])} ({what}); {'; '.join(back)}."
    return Outcome(text=text, display=text_display("", what))


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _size(what: moves.Contents) -> str:
    files = f"{what.files:,} file{'s' * (what.files != 1)}"
    folders = f", {what.folders:,} folder{'s' * (what.folders != 1)}" if what.folders else ""
    return f"{files}{folders}, {what.bytes:,} bytes"


def _counted(path: Path) -> str:
    try:
        return _size(moves.contents(path))
    except OSError:  # gone again
        return "gone by now"


def _as_located(entry: Entry, other: Entry) -> Located:
    shown = entry.shown if entry is other else f"{entry.shown} → {other.shown}"
    return Located(path=entry.path, asked=entry.path, inside=True, shown=shown)


def _make_parents(path: Path) -> list[Path]:
    """Make the folders that a path needs; those that were made."""
    missing: list[Path] = []
    folder = path.parent
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    missing.reverse()
    for new in missing:
        new.mkdir()
    return missing


def _take_away(made: Sequence[Path]) -> None:
    for folder in reversed(made):
        try:
            folder.rmdir()
        except OSError:
            return
