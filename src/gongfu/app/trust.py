"""Which folders the person trusts: remembered by folder and by the content of what takes effect there."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from gongfu.config.load import Notice
from gongfu.config.paths import Places
from gongfu.core.base import Base
from gongfu.core.errors import UsageError, UserError
from gongfu.permissions.trust import NOTHING, Findings, look, repository
from gongfu.workspace.names import show_name

State: TypeAlias = Literal["nothing", "trusted", "run", "untrusted", "changed", "refused", "unknown"]

VERSION: Final = 1
_MOST_KEPT: Final = 20  # contents of one file that stay trusted: going back and forth between branches asks once
_NAMED: Final = 5


class Trust(Base, frozen=True):
    """How a folder stands.

    "nothing": nothing lies in it that could take effect, and nobody was asked. "trusted": by the person's word; "run":
    for this run only. "untrusted": nobody was asked; "changed": it was trusted, and what is in `changed` is new since;
    "refused": the person said no to just this. "unknown": what was said cannot be read; `why` tells.
    """

    state: State = "nothing"
    findings: Findings = NOTHING
    changed: tuple[str, ...] = ()
    why: Notice | None = None

    @property
    def trusted(self) -> bool:
        """Whether what lies in the folder takes effect."""
        return self.state in ("trusted", "run")


class Trusted(Base, frozen=True):
    """One entry of the list: the folder, when it was trusted (seconds since 1970), and how many files were seen."""

    root: str
    at: float
    files: int


def judge(places: Places, root: Path, *, trust: bool = False) -> Trust:
    """How the folder `root` (resolved) stands; `trust` is the word for this run only. Nothing is written.

    Raises UserError for a list that cannot be read, or where what was said cannot be kept: see `check`.
    """
    if too_wide(places, root):
        if trust:
            check_width(places, root)
        return Trust()
    findings = look(root, own=places.home)
    if trust:
        check(findings, root)
        return Trust(state="run", findings=findings)
    entry = _folders(_read(places.trust)).get(str(root))
    if entry is None:
        return Trust(state="untrusted" if findings.anything else "nothing", findings=findings)
    known = entry.get("files")
    if known is not None:
        changed = tuple(name for name, digest in findings.files.items() if digest not in known.get(name, ()))
        git, there = entry.get("git", ()), repository(root)
        if git and there and there not in git:  # another repository in the place of the one that was trusted
            changed += (".git",)
        if not changed and not findings.problems:
            return Trust(state="trusted", findings=findings)
    else:
        changed = ()
    if findings.fingerprint in entry.get("refused", ()):
        return Trust(state="refused", findings=findings)
    if known is None:
        return Trust(state="untrusted" if findings.anything else "nothing", findings=findings)
    changed += tuple(problem.name for problem in findings.problems)
    return Trust(state="changed", findings=findings, changed=changed)


def standing(places: Places, root: Path, *, trust: bool = False) -> Trust:
    """How the folder `root` stands for a run: as `judge`, but a list that cannot be read stops nothing. Then no folder
    counts as trusted.
    """
    if trust:
        return judge(places, root, trust=True)
    try:
        return judge(places, root)
    except UserError as error:
        found = look(root, own=places.home)
        return Trust(
            state="unknown",
            findings=found,
            why=Notice(key=error.key, values={name: str(value) for name, value in error.values.items()}),
        )


def as_trusted(places: Places, root: Path, trust: Trust) -> bool:
    """Whether what lies in the folder `root` is what the person trusted, at the start of this run (`trust`) or ever."""
    if look(root, own=places.home) == trust.findings:
        return trust.trusted
    try:
        return judge(places, root).trusted
    except UserError:
        return False


def notices(trust: Trust, others: tuple[Notice, ...]) -> tuple[Notice, ...]:
    """What the person should know: `others`, and what of the folder has no effect in one line, unless they said no."""
    rest = tuple(notice for notice in others if notice.key != "config.project_untrusted")
    if trust.trusted or trust.state == "refused" or not (trust.findings.anything or trust.changed):
        return rest
    if trust.why is not None:
        return (trust.why, *rest)
    names = trust.changed or (*trust.findings.files, *(problem.name for problem in trust.findings.problems))
    shown = ", ".join(show_name(name)[:80] for name in names[:_NAMED])
    if len(names) > _NAMED:
        shown += f", … ({len(names)})"
    key = "trust.left_out_changed" if trust.state == "changed" else "trust.left_out"
    return (Notice(key=key, values={"what": shown}), *rest)


def too_wide(places: Places, root: Path) -> bool:
    """Whether a folder is no project: a home folder, one above it, the root of a disk, or Gongfu's own."""
    home = Path(os.path.realpath(os.path.expanduser("~")))  # noqa: PTH111 - pathlib raises where there is no home
    own = Path(os.path.realpath(places.home))
    return root in {root.parent, home, own} or root in home.parents or own in root.parents


def check_width(places: Places, root: Path) -> None:
    """Raises UsageError for a folder that is no project."""
    if too_wide(places, root):
        raise UsageError("trust.too_wide", path=show_name(str(root)))


def check(findings: Findings, root: Path) -> None:
    """Raises UserError when something in the folder cannot be checked: then it cannot be trusted."""
    if findings.problems:
        first = findings.problems[0]
        raise UserError(f"trust.unchecked_{first.why}", path=show_name(str(root)), name=show_name(first.name))


def remember(places: Places, root: Path, findings: Findings) -> None:
    """Trust the folder `root` with what was found there, from now on. Raises UserError; nothing is changed then."""
    check_width(places, root)
    check(findings, root)
    with _changing(places) as folders:
        entry = folders.setdefault(str(root), {})
        before = entry.get("files", {})
        files = {name: _with(before.get(name, []), digest) for name, digest in findings.files.items()}
        entry["files"] = {**before, **files}
        if there := repository(root):
            entry["git"] = _with(entry.get("git", []), there)
        entry["at"] = time.time()
        entry.pop("refused", None)


def refuse(places: Places, root: Path, findings: Findings) -> None:
    """Note that the person said no to just this: they are not asked again before it changes."""
    with _changing(places) as folders:
        entry = folders.setdefault(str(root), {})
        entry["refused"] = _with(entry.get("refused", []), findings.fingerprint)
        entry.setdefault("at", time.time())


def revoke(places: Places, root: Path) -> bool:
    """Forget all that was said of the folder `root`; whether anything was."""
    with _changing(places) as folders:
        return folders.pop(str(root), None) is not None


def trusted_folders(places: Places) -> list[Trusted]:
    """All folders that are trusted, by name."""
    entries = sorted(_folders(_read(places.trust)).items())
    return [Trusted(root=root, at=e.get("at", 0.0), files=len(e["files"])) for root, e in entries if "files" in e]


def _with(kept: list[str], new: str) -> list[str]:
    return [*(old for old in kept if old != new), new][-_MOST_KEPT:]


# --- the list ---


def _read(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UserError("trust.unreadable", path=path, reason=error.strerror or error) from error
    import json  # only where something was said; msgspec takes no names that are not Unicode

    try:
        whole = cast("object", json.loads(data))
    except (ValueError, RecursionError) as error:
        raise UserError("trust.bad_list", path=path, reason=f": {error}") from error
    if not _fits(whole):
        raise UserError("trust.bad_list", path=path, reason="")
    return cast("dict[str, Any]", whole)


def _fits(whole: object) -> bool:
    """Whether a list has the shape that `_changing` writes; what else is in it is kept."""
    if not isinstance(whole, dict):
        return False
    table = cast("dict[str, Any]", whole)
    folders = table.get("folders")
    if table.get("version") != VERSION or not isinstance(folders, dict):
        return False
    return all(_fits_entry(entry) for entry in cast("dict[str, object]", folders).values())


def _fits_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    table = cast("dict[str, Any]", entry)
    files = table.get("files", {})
    lists: list[object] = [table.get("refused", []), table.get("git", [])]
    if not isinstance(files, dict) or not isinstance(table.get("at", 0.0), int | float):
        return False
    lists += cast("dict[str, object]", files).values()
    return all(isinstance(one, list) for one in lists)


def _folders(whole: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", whole.get("folders", {}))


@contextmanager
def _changing(places: Places) -> Generator[dict[str, Any]]:
    """The folders, to be changed; written whole or not at all, one process at a time."""
    import json

    from gongfu.config.files import write_private
    from gongfu.workspace.locks import FileLock

    places.ensure()
    places.ensure(places.locks)
    try:
        with FileLock(places.locks / "trusted.lock"):
            whole = _read(places.trust) or {"version": VERSION, "folders": {}}
            yield _folders(whole)
            write_private(places.trust, json.dumps(whole, indent=1, sort_keys=True).encode() + b"\n")
    except (OSError, TimeoutError) as error:
        raise UserError("trust.not_kept", path=places.trust, reason=error) from error
