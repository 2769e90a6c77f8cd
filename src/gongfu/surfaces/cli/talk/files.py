"""Which files and folders there are to name, found beside the conversation and kept for the next key."""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median_low
from threading import Event, Lock, Thread
from typing import Final

from gongfu.core.base import Base
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.talk.ranking import Block, blocks_of, fold, search
from gongfu.workspace.ignore import NEVER, Ignores, is_file, is_folder
from gongfu.workspace.root import Workspace, is_below, joined

MOST: Final = 100_000
_FRESH: Final = 3.0  # seconds for which nothing is looked at again
_REST: Final = 20  # looking takes at most one part in so many of the time
_EARLY: Final = (1_000, 10_000)  # files after which what was found so far can be used, the first time
_RECENT: Final = 50  # files that were changed last and stand before all others
_DAYS: Final = 2 * 86_400.0  # seconds
_BESIDE: Final = 2_000  # entries of one folder that are looked at


class Found(Base, frozen=True):
    """What there is at one time. `more` says that there are files beyond the bound, `whole` that all were looked at."""

    blocks: tuple[Block, ...] = ()
    count: int = 0
    more: bool = False
    whole: bool = False


class Files:
    """The files of a workspace that may be named, as paths from its working directory; folders end in a slash.

    Left out are files that ignore files leave out, what the person forbids to read, and links that lead out. `news` is
    called in another thread when there is more to offer than there was.
    """

    def __init__(self, workspace: Workspace, *, most: int = MOST, news: Callable[[], None] = lambda: None) -> None:
        self._workspace = workspace
        self._most = most
        self._news = news
        self._lock = Lock()
        self._looking: Thread | None = None
        self._some = Event()
        self._found = Found()
        self._looked_at = self._took = 0.0

    def now(self, wait: float = 0.0) -> Found:
        """What there is, as it was seen last; looked at again in the background when that is long ago.

        The first time it waits up to `wait` seconds. Never call it with a wait where keys are taken.
        """
        with self._lock:
            stale = time.monotonic() - self._looked_at > max(_FRESH, _REST * self._took)
            if self._looking is None and (stale or not self._looked_at):
                self._looking = Thread(target=self._look, daemon=True, name="gongfu-files")
                self._looking.start()
        if not self._some.is_set():
            self._some.wait(wait)
        return self._found

    def find(self, query: str, limit: int, wait: float = 0.0) -> list[str]:
        """The paths that fit a query best, see `ranking.search`."""
        return search(self.now(wait).blocks, query, limit)

    def _look(self) -> None:
        began = time.monotonic()
        try:
            walk = _Look(self._workspace, self._most)
            steps = iter(_EARLY if not self._found.whole else ())
            due = next(steps, 0)
            for count in walk:
                if due and count >= due:
                    due = next(steps, 0)
                    self._publish(walk.found(whole=False))
            self._publish(walk.found(whole=True))
        finally:
            with self._lock:
                self._looking = None
                self._looked_at = time.monotonic()
                self._took = self._looked_at - began

    def _publish(self, found: Found) -> None:
        known, self._found = self._found, found
        first = not self._some.is_set()
        self._some.set()
        if not first and not known.whole:
            self._news()


class _Look:
    """One walk through the folders of a workspace, level by level; iterate it for the number of files so far."""

    def __init__(self, workspace: Workspace, most: int) -> None:
        self._workspace = workspace
        self._most = most
        self._files: list[tuple[str, float]] = []
        self._folders: dict[str, None] = {}
        self._more = False

    def __iter__(self) -> Iterator[int]:
        where = self._workspace
        for top in dict.fromkeys((where.root, *where.extra)):
            waiting = deque([(Ignores.at(top, where), _shown_folder(top, where))])
            while waiting:
                here, shown = waiting.popleft()
                for entry in _entries(here.folder):
                    self._visit(entry, here, shown, waiting)
                if len(self._files) >= self._most:
                    self._more = self._more or bool(waiting)
                    return
                yield len(self._files)

    def _visit(self, entry: os.DirEntry[str], here: Ignores, shown: str, waiting: deque[tuple[Ignores, str]]) -> None:
        name = entry.name
        folder = is_folder(entry)
        if not _can_name(name) or name in NEVER or here.covers(name, folder=folder):
            return
        barred = self._workspace.barred
        if barred is not None and barred(entry.path):
            return
        if folder:
            above = str(self._workspace.directory).startswith(entry.path)  # of where relative paths start, likely
            below = _shown_folder(Path(entry.path), self._workspace) if above else f"{shown}{name}/"
            waiting.append((here.enter(name), below))
        elif len(self._files) >= self._most:
            self._more = True
        elif is_file(entry, self._workspace) and not (barred and entry.is_symlink() and _leads_to(entry.path, barred)):
            self._files.append((f"{shown}{name}", _changed(entry)))
            self._note_folders(shown)

    def _note_folders(self, shown: str) -> None:
        while shown and shown not in self._folders and shown.strip("./"):
            self._folders[shown] = None
            shown = shown[: shown.rfind("/", 0, len(shown) - 1) + 1]

    def found(self, *, whole: bool) -> Found:
        paths = _in_order(self._files, list(self._folders))
        return Found(blocks=blocks_of(paths), count=len(self._files), more=self._more, whole=whole)


def _in_order(files: list[tuple[str, float]], folders: list[str]) -> list[str]:
    """Paths by preference: what was changed lately (and not with most of the others, as by a checkout), then what
    lies higher and is shorter, names with a leading dot last.
    """
    if not files:
        return folders
    times = [changed for _, changed in files[:: 1 + len(files) // 2_000]]
    since = max(time.time() - _DAYS, median_low(times) + 60.0)
    recent = sorted(((changed, path) for path, changed in files if changed > since), reverse=True)[:_RECENT]
    first = [path for _, path in recent]
    before = set(first)
    by_length: dict[tuple[bool, int, int], list[str]] = {}
    for path in (*folders, *(path for path, _ in files)):  # sorted in small pieces: the keys get their turn
        if path not in before:
            hidden = (path.startswith(".") and not path.startswith("../")) or "/." in path.removeprefix("../")
            by_length.setdefault((hidden, path.count("/", 0, -1), len(path)), []).append(path)
    for key in sorted(by_length):
        first += by_length[key]
    return first


def beside(workspace: Workspace, typed: str, limit: int) -> list[str]:
    """The entries of a folder that begin as `typed` ends, spelled as it begins: `../`, `~/`, absolute or relative.

    What the person forbids to read is left out; ignored files are there.
    """
    head = typed[: typed.rfind("/") + 1]
    beginning = fold(typed[len(head) :])
    folder = os.path.realpath(joined(str(workspace.directory), os.path.expanduser(head) if head else ""))  # noqa: PTH111
    barred = workspace.barred
    found: list[str] = []
    for entry in _entries(folder, _BESIDE):
        name = entry.name
        if not _can_name(name) or name in NEVER or not fold(name).startswith(beginning):
            continue
        if (name.startswith(".") and not beginning) or (barred is not None and _barred(entry.path, barred)):
            continue
        found.append(f"{head}{name}{'/' if _is_dir(entry) else ''}")
        if len(found) >= limit:
            break
    return found


def leads_out(workspace: Workspace, typed: str) -> bool:
    """Whether what is typed is a path beyond the folders of the workspace."""
    if not typed.startswith(("/", "~/", "../")):
        return False
    head = os.path.expanduser(typed[: typed.rfind("/") + 1])  # noqa: PTH111
    folder = Path(os.path.realpath(joined(str(workspace.directory), head)))
    return not any(is_below(folder, top) for top in (workspace.root, *workspace.extra))


def _shown_folder(top: Path, workspace: Workspace) -> str:
    """What stands before the names of what lies in `top`: "" where relative paths start."""
    if top == workspace.directory:
        return ""
    shown = workspace.show(top)
    return shown if shown.endswith("/") else f"{shown}/"


def _entries(folder: str, most: int = 0) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            listed = list(entries) if not most else [entry for entry, _ in zip(entries, range(most), strict=False)]
    except OSError:
        return []
    return sorted(listed, key=lambda entry: entry.name)


def _can_name(name: str) -> bool:
    """Whether a name can be shown and typed as it is."""
    if name.isascii():
        return name.isprintable()
    return clean(name) == name and not any(char in "\n\t" or "\ud800" <= char <= "\udfff" for char in name)


def _changed(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISDIR(entry.stat().st_mode)
    except OSError:
        return False


def _leads_to(path: str, barred: Callable[[str], bool]) -> bool:
    return barred(os.path.realpath(path))


def _barred(path: str, barred: Callable[[str], bool]) -> bool:
    return barred(path) or _leads_to(path, barred)
