"""Paths in calls: where they lead, whether they still do when the call runs, and what is wrong with them."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from gongfu.core.errors import ToolFailure
from gongfu.workspace.ignore import NEVER
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Located, Workspace

_NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Places:
    """Locates the paths of calls, first for the policy and again when the call runs.

    A path that leads elsewhere the second time (a link was put there in between) is refused.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._judged: dict[str, Path] = {}

    def judge(self, text: str) -> Located:
        """Where a path leads, remembered for `again`."""
        located = self.workspace.locate(text)
        self._judged[text] = located.path
        return located

    def again(self, text: str) -> Located:
        """The same when the call runs. ToolFailure when the path leads elsewhere than it did before."""
        located = self.workspace.locate(text)
        if self._judged.get(text, located.path) != located.path:
            raise ToolFailure(f"{located.shown} leads elsewhere than when the call was checked; nothing was touched")
        return located

    def paths(self, located: Located, *, write: bool = False) -> tuple[str, ...]:
        """What the policy must judge: the resolved path, and the one before resolving when that is protected."""
        paths = (str(located.path),)
        if located.asked != located.path and why_protected(located.asked, self.workspace, write=write):
            return (*paths, str(located.asked))
        return paths

    def consent(self, located: Located) -> str:
        """Why a person must agree before the model learns anything of a file that it wants to write, its failures
        included: "secret", another word of `why_protected`, or "outside"; "" when nobody needs to."""
        for path in (located.path, located.asked):
            why = why_protected(path, self.workspace)
            if why:
                return why
        return "" if located.inside else "outside"

    def missing(self, located: Located) -> ToolFailure:
        """The failure of a file that is not there, with the names that come near."""
        near = self._near(located)
        hint = f" Near: {', '.join(near)}." if near else ""
        parent = located.path.parent
        if not parent.is_dir():
            shown = self.workspace.show(parent)
            why = "is not a folder" if parent.exists() else "does not exist either"
            return ToolFailure(f"{located.shown} does not exist; {shown} {why}.{hint}")
        return ToolFailure(f"{located.shown} does not exist.{hint}")

    def _near(self, located: Located) -> list[str]:
        """Up to five existing paths: alike names in the same folder, then the same name elsewhere in the workspace."""
        from difflib import get_close_matches  # only for the rare mistake

        wanted = located.path.name
        try:
            with os.scandir(located.path.parent) as entries:
                names = {e.name.casefold(): e.name for _, e in zip(range(5000), entries, strict=False)}
        except OSError:
            names = {}
        stem = wanted.casefold().rpartition(".")[0] or wanted.casefold()
        close = get_close_matches(wanted.casefold(), names, n=3, cutoff=0.6)
        close += sorted(name for name in names if name.rpartition(".")[0] == stem)[:3]  # another suffix, or none given
        found = [self.workspace.show(located.path.parent / names[c]) for c in close]
        if located.inside:
            found += [self.workspace.show(p) for p in self._same_name(wanted)]
        return list(dict.fromkeys(found))[:5]

    def _same_name(self, name: str) -> list[Path]:
        """Files called `name` in the workspace; 20,000 entries are looked at."""
        found: list[Path] = []
        waiting, left = [self.workspace.root], 20_000
        while waiting and left > 0 and len(found) < 3:
            folder = waiting.pop(0)
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda e: e.name)
            except OSError:
                continue
            left -= len(listed)
            found += [Path(e.path) for e in listed if e.name == name]
            waiting += [Path(e.path) for e in listed if e.is_dir(follow_symlinks=False) and not _boring(e.name)]
        return found


def _boring(name: str) -> bool:
    return name in NEVER or name in ("node_modules", "__pycache__") or name.startswith(".")


@contextmanager
def explained(located: Located) -> Generator[None]:
    """Turn the system's errors on a file into failures for the model."""
    try:
        yield
    except OSError as error:
        raise ToolFailure(_explain(error, located)) from None


def _explain(error: OSError, located: Located) -> str:
    shown = located.shown
    match error:
        case FileNotFoundError():
            return f"{shown} does not exist"
        case IsADirectoryError():
            return f"{shown} is a folder, not a file"
        case NotADirectoryError():
            return f"{shown} cannot be: a part of the path is a file, not a folder"
        case PermissionError():
            return f"{shown} may not be accessed: permission denied. Nothing was changed."
        case _ if error.errno in _NO_ROOM:
            return f"the disk is full; {shown} was left as it was"
        case _ if error.errno == errno.EROFS:
            return f"{shown} lies on a read-only file system; nothing was changed"
        case _:
            return f"{shown}: {error.strerror or error}; nothing was changed"


def unasked(path: Path, workspace: Workspace) -> bool:
    """Whether what `path` leads to may be read although no call named it: it lies in the workspace, and neither the
    path nor what it leads to is a secret."""
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return False
    secret = any(why_protected(one, workspace, write=False) == "secret" for one in {path, real})
    return workspace.contains(real) and not secret


def strictest(consents: Iterable[str]) -> str:
    """Of what `Places.consent` said of several paths, the one that holds for all: "secret" before any other."""
    found = {consent for consent in consents if consent}
    return "secret" if "secret" in found else min(found, default="")
