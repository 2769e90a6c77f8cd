"""Git, called so that a repository's configuration runs nothing; and what is known of a repository without git."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from gongfu.core.base import Base
from gongfu.workspace.environment import batch_ssh, child_env
from gongfu.workspace.git_guard import (
    STATIC,
    Setting,
    included,
    names_programs,
    parse_listing,
    replacements,
    runs_program,
    suspect,
    with_settings,
)
from gongfu.workspace.process import Finished, run
from gongfu.workspace.root import joined, rest_below

_NO_PROGRAMS = ("--no-ext-diff", "--no-textconv")
_SHOWS_CHANGES = (
    "diff",
    "log",
    "show",
    "format-patch",
    "diff-tree",
    "diff-index",
    "diff-files",
    "stash",
    "whatchanged",
)
_WORD = r"[^\s;&|()<>'\"`$]+"
_MOVE = r"(?:\b(?:cd|pushd)|\s-C)\s"
_WIDE = ("system", "global")
_OWN = ("local", "worktree")
_SSH = "core.sshcommand"
_KEPT = (_SSH, "core.hookspath", "protocol.ext.allow")
_PERSONS = rb"(?i)sshcommand|hookspath|\[\s*(?:include|protocol)"
_HOOKS_PATH = rb"(?i)hookspath"
_INCLUDES = rb"(?i)\[\s*include"
_PLACES = 16
_ENTRIES = 500
_MAX_CONFIG = 1 << 20
_MAX_SUBMODULES = 2000
_WHOLE = 1 << 28
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Head(Base, frozen=True):
    """Where a repository stands. `branch` is empty on a detached head, `commit` before the first commit."""

    branch: str = ""
    commit: str = ""

    def __str__(self) -> str:
        return f"branch {self.branch}" if self.branch else f"detached at {self.commit[:12]}"


# --- without git ----------------------------------------------------------------------------------------------------


def find_git_dir(start: Path) -> Path | None:
    """The git directory that git would use in the folder `start`; None outside any repository."""
    found = _GitDirs().around(str(start))
    return Path(found) if found else None


def is_repository(folder: Path) -> bool:
    """True when `folder` lies inside a repository."""
    return find_git_dir(folder) is not None


def find_head(start: Path) -> Head | None:
    """Branch and commit of the repository around `start`, read from its files; None outside any repository."""
    git_dir = _GitDirs().around(str(start))
    if not git_dir:
        return None
    text = _read(joined(git_dir, "HEAD")).decode(errors="replace").strip()
    if not text.startswith("ref:"):
        return Head(commit=text)
    name = text[4:].strip()
    return Head(branch=name.removeprefix("refs/heads/"), commit=_resolve(git_dir, name))


class _GitDirs:
    """The git directories of folders that lie near each other: each folder is looked at once.

    Paths are texts here, since this runs before every command: pathlib takes ten times as long.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def around(self, folder: str) -> str:
        """The git directory of the repository around `folder`, "" outside any."""
        new: list[str] = []
        while (found := self._known.get(folder)) is None:
            new.append(folder)
            found = _git_dir_in(folder)
            parent = os.path.dirname(folder)  # noqa: PTH120
            if found or parent == folder:
                break
            folder = parent
        self._known.update(dict.fromkeys(new, found))
        return found


def _git_dir_in(folder: str) -> str:
    entry = joined(folder, ".git")
    try:
        mode = os.stat(entry).st_mode  # noqa: PTH116
    except (OSError, ValueError):
        mode = 0
    if stat.S_ISDIR(mode) and _looks_like_git(entry):
        return entry
    if stat.S_ISREG(mode):
        text = _read(entry).decode(errors="surrogateescape").strip()
        if text.startswith("gitdir:"):
            target = joined(folder, text[7:].strip())
            return target if _looks_like_git(target) else ""
    return folder if _looks_like_git(folder) else ""


def _looks_like_git(folder: str) -> bool:
    if not os.path.isfile(joined(folder, "HEAD")):  # noqa: PTH113
        return False
    return os.path.isdir(joined(folder, "objects")) or os.path.isfile(joined(folder, "commondir"))  # noqa: PTH112, PTH113


def _common(git_dir: str) -> str:
    text = _read(joined(git_dir, "commondir")).decode(errors="surrogateescape").strip()
    return joined(git_dir, text) if text else git_dir


def _resolve(git_dir: str, name: str) -> str:
    common = _common(git_dir)
    for folder in (git_dir, common):
        found = _read(joined(folder, name)).decode(errors="replace").strip()
        if found:
            return found
    for line in _read(joined(common, "packed-refs")).decode(errors="replace").splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return commit
    return ""


def _read(file: str) -> bytes:
    """The bytes of a regular file, as far as a configuration may be long; nothing of anything else. Never waits."""
    try:
        descriptor = os.open(file, os.O_RDONLY | _NONBLOCK)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(descriptor, _MAX_CONFIG) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def places_in(command: str, cwd: Path) -> list[Path]:
    """Where a command line may meet a repository: `cwd`, the folders that it names, repositories just below `cwd`."""
    words = list(dict.fromkeys(p for whole in re.findall(_WORD, command) for p in (whole, *whole.split("=", 1)[1:])))
    found = [cwd]
    for start in found if len(re.findall(_MOVE, command)) > 1 else (cwd,):  # `cd a && cd b` leads to a/b
        for word in words:
            name = os.path.expanduser(word) if word.startswith("~") else word  # noqa: PTH111 - may have no home
            text = joined(str(start), name)
            if len(found) < _PLACES and os.path.isdir(text) and (folder := Path(text)) not in found:  # noqa: PTH112
                found.append(folder)
    return found + [place for place in _repositories_below(cwd) if place not in found]


def _repositories_below(cwd: Path) -> list[Path]:
    try:
        with os.scandir(cwd) as entries:
            folders = [entry.path for entry in islice(entries, _ENTRIES) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [Path(folder) for folder in folders if os.path.lexists(f"{folder}/.git") and not folder.endswith(".git")]


def has_hooks(place: Path) -> bool:
    """True when the repository around `place` would run hooks of its own if git were let."""
    git_dir = _GitDirs().around(str(place))
    if not git_dir:
        return False
    common = _common(git_dir)
    return bool(re.search(_HOOKS_PATH, _read(joined(common, "config"))) or _active(joined(common, "hooks")))


def active_hooks(place: Path) -> tuple[str, ...]:
    """The names of the hooks in the git directory around `place` that git would run, were it let."""
    git_dir = _GitDirs().around(str(place))
    return tuple(_active(joined(_common(git_dir), "hooks"))) if git_dir else ()


def _active(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if not e.name.endswith(".sample") and os.access(e.path, os.X_OK))
    except OSError:
        return []


def may_run_programs(place: Path) -> bool:
    """False when it is certain that the repository around `place` names no program and has no hook. Asks no git."""
    git_dir = _GitDirs().around(str(place))
    if not git_dir:
        return False
    common = _common(git_dir)
    files = [joined(common, "config"), joined(git_dir, "config.worktree")]
    return any(names_programs(_read(file)) for file in files) or bool(_active(joined(common, "hooks")))


def strangers(places: Iterable[Path], root: Path) -> list[Path]:
    """Of `places` those in repositories other than that of the folder `root` which may run programs. Submodules and
    worktrees belong to their repository.
    """
    own = _git_dir_in(str(root))
    common = os.path.realpath(_common(own)) if own else ""
    near = _GitDirs()
    found: list[Path] = []
    for place in places:
        git_dir = near.around(str(place))
        if git_dir and not (common and rest_below(os.path.realpath(git_dir), common) is not None):
            found.append(place)
    return [place for place in found if may_run_programs(place)]


# --- with git -------------------------------------------------------------------------------------------------------


class GitGuard:
    """Knows for each repository what its configuration would run. Asks git only when a file looks like it."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._known: dict[str, tuple[tuple[object, ...], list[Setting]]] = {}
        self._person: tuple[tuple[object, ...], dict[str, str]] = ((), {})
        self._files = _persons_files(env)

    async def variables(self, child: Mapping[str, str], places: Iterable[Path]) -> dict[str, str]:
        """What the environment `child` (see `child_env`) of a command needs besides to be safe in `places`.

        The person's own ssh command and hooks, set for all repositories, stay in force.
        """
        person = await self._persons()
        own = [(key, value) for key, value in person.items() if key != _SSH]
        added = with_settings(child, [*own, *await self.settings(places)])
        if _SSH in person and not self._env.get("GIT_SSH_COMMAND"):
            added["GIT_SSH_COMMAND"] = batch_ssh(person[_SSH])
        return added

    async def _persons(self) -> dict[str, str]:
        state = tuple(map(_stamp, self._files))
        if self._person[0] != state:
            found: dict[str, str] = {}
            if any(re.search(_PERSONS, _read(file)) for file in self._files):
                entries = await self._listing(None)
                found = {key: value for scope, key, value in entries if scope in _WIDE and key in _KEPT}
            self._person = (state, found)
        return self._person[1]

    async def settings(self, places: Iterable[Path]) -> list[Setting]:
        """The settings that make the repositories around `places` run nothing."""
        near = _GitDirs()
        wanted: list[Setting] = []
        for git_dir in dict.fromkeys(near.around(str(place)) for place in places):
            if git_dir:
                wanted.extend(await self._of(git_dir))
        return wanted

    async def _of(self, git_dir: str) -> list[Setting]:
        common = _common(git_dir)
        files = [joined(common, "config"), joined(git_dir, "config.worktree"), *_submodules(common)]
        state = tuple(map(_stamp, files))
        if git_dir in self._known and self._known[git_dir][0] == state:
            return self._known[git_dir][1]
        settings: list[Setting] = []
        shared = os.path.dirname(files[0])  # noqa: PTH120
        texts = {file: text for file in files if suspect(text := _read(file))}
        for folder in dict.fromkeys(os.path.dirname(file) for file in texts):  # noqa: PTH120
            entries = await self._listing(git_dir if folder == shared else folder)
            settings.extend(replacements([*entries, *await self._conditional(entries, folder)]))
        if not any(re.search(_INCLUDES, text) for text in texts.values()):  # what is included may change unseen
            self._known[git_dir] = (state, settings)
        return settings

    async def _conditional(self, entries: list[tuple[str, str, str]], folder: str) -> list[tuple[str, str, str]]:
        """What a repository includes on a condition, whether it holds now or not: one command may fulfil it."""
        found: list[tuple[str, str, str]] = []
        for file in included(entries, folder):
            found += [("local", key, value) for _, key, value in await self._listing(None, file)]
        return found

    async def programs(self, place: Path) -> list[Setting]:
        """The settings of the repository around `place` that would run programs, with their values."""
        git_dir = _GitDirs().around(str(place))
        entries = await self._listing(git_dir) if git_dir else []
        return [(key, value) for scope, key, value in entries if scope in _OWN and runs_program(key, value)]

    async def _listing(self, git_dir: str | None, file: str = "") -> list[tuple[str, str, str]]:
        argv = ["git", "config", *(["--file", file] if file else []), "--list", "--show-scope", "--includes", "-z"]
        env = own_env(self._env)
        env["GIT_DIR"] = git_dir or os.devnull
        try:
            done = await run(argv, cwd=Path(git_dir or "/"), env=env, timeout=20, keep=_WHOLE)
        except OSError:  # no git: nothing of it can run either
            return []
        return parse_listing(done.output)


def _stamp(file: str) -> tuple[int, int] | None:
    try:
        found = os.stat(file)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size


def _persons_files(env: Mapping[str, str]) -> list[str]:
    home = env.get("HOME") or env.get("USERPROFILE") or "/"
    config = env.get("XDG_CONFIG_HOME") or joined(home, ".config")
    own = env.get("GIT_CONFIG_GLOBAL")
    return ["/etc/gitconfig", *([own] if own else [joined(home, ".gitconfig"), joined(config, "git/config")])]


def _submodules(common: str) -> list[str]:
    """The configuration files of submodules: below `modules` each folder is a git directory or holds some."""
    found: list[str] = []
    todo = [joined(common, "modules")]
    while todo and len(found) < _MAX_SUBMODULES:
        try:
            folders = [entry.path for entry in os.scandir(todo.pop()) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for folder in folders:
            if _looks_like_git(folder):
                found.extend((joined(folder, "config"), joined(folder, "config.worktree")))
                todo.append(joined(folder, "modules"))
            else:
                todo.append(folder)
    return found


def own_env(env: Mapping[str, str]) -> dict[str, str]:
    """The environment of git when Gongfu itself reads a repository: English, no locks, no fetching, no repository of
    an outer git."""
    child = child_env(env)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"):
        child.pop(name, None)
    return {**child, "LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}


def git_argv(args: Sequence[str], cwd: Path) -> list[str]:
    """The arguments that run `git <args>` in `cwd` with monitors, hooks, external diffs and text converters off.

    Filters and drivers have names that only the repository knows: `git` switches them off as well.
    """
    fixed = [part for key, value in STATIC for part in ("-c", f"{key}={value}")]
    shown = [args[0], *_NO_PROGRAMS, *args[1:]] if args and args[0] in _SHOWS_CHANGES else list(args)
    return ["git", "--no-pager", "-C", str(cwd), *fixed, *shown]


async def git(
    args: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout: float = 60.0,  # noqa: ASYNC109  (see process.run)
    keep: int = _WHOLE,
    guard: GitGuard | None = None,
) -> Finished:
    """Run git for Gongfu's own reading; nothing that a repository's configuration names is run.

    The settings of the machine and of the person hold (such as `safe.directory`). OSError when there is no git.
    """
    settings = await (guard or GitGuard(env)).settings([cwd])
    child = own_env(env)
    child.update(with_settings(child, settings))
    return await run(git_argv(args, cwd), cwd=cwd, env=child, stdin=stdin, timeout=timeout, keep=keep)
