"""Random trees and edits for checkpoints, and what a folder really holds, told without the code under test."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st

from gongfu.store.contents import CheckpointRow, Contents
from gongfu.workspace.checkpoint import Restored, Taken, restore, take

Seen: TypeAlias = dict[str, tuple[str, int, bytes]]
Edit: TypeAlias = tuple[Any, ...]

NAMES = ("a", "A", "b.txt", "ü", "new\nline", "bad\udcff", ".GIT", "-rf", " ", "sub", "nested", "tracked.log")
IGNORE = "*.log\nout\n"
TOUCHED = ("keep.log", "out/kept.txt")
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
HOSTILE = """[core]
\tautocrlf = true
\tfsmonitor = touch {canary}; false
\tsshCommand = touch {canary}
\thooksPath = {hooks}
[filter "evil"]
\tclean = touch {canary}; cat
\tsmudge = touch {canary}; cat
\trequired = true
"""


def covered(path: str, *, git: bool) -> bool:
    """Whether a checkpoint has to hold a path, by `IGNORE` and `TOUCHED`."""
    parts = path.rstrip("/").split("/")
    if path in TOUCHED or (git and path == "tracked.log"):
        return True
    return not any(part.endswith(".log") or part in ("out", ".git") for part in parts)


def look(root: Path) -> Seen:
    """All that is below a folder, git's own data left out: kind, mode and content of each path."""
    found: Seen = {"": ("folder", stat.S_IMODE(root.stat().st_mode), b"")}
    todo = [""]
    while todo:
        folder = todo.pop()
        for name in os.listdir(root / folder):  # noqa: PTH208
            path = f"{folder}/{name}" if folder else name
            full = root / path
            status = full.lstat()
            mode = stat.S_IMODE(status.st_mode)
            if name == ".git":
                continue
            if stat.S_ISLNK(status.st_mode):
                found[path] = ("link", 0, os.fsencode(os.readlink(full)))  # noqa: PTH115
            elif stat.S_ISDIR(status.st_mode):
                found[path] = ("folder", mode, b"")
                todo.append(path)
            elif stat.S_ISREG(status.st_mode):
                found[path] = ("file", mode, full.read_bytes())
            else:
                found[path] = ("other", mode, b"")
    return found


def split(seen: Seen, *, git: bool) -> tuple[Seen, Seen]:
    """What must be held, and the rest."""
    held = {path: what for path, what in seen.items() if covered(path, git=git)}
    return held, {path: what for path, what in seen.items() if path not in held}


def template(folder: Path) -> Path:
    """A repository with a configuration that would run things, and one tracked file that is ignored."""
    folder.mkdir()
    hooks = folder.parent / "hooks"
    hooks.mkdir(exist_ok=True)
    canary = folder.parent / "canary"
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {canary}\n")
        (hooks / name).chmod(0o755)
    (folder / "tracked.log").write_text("tracked")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x", "-C", str(folder)]
    subprocess.run(["git", "init", "-q", str(folder)], check=True, env=ENV)
    subprocess.run([*git, "add", "tracked.log"], check=True, env=ENV)
    with (folder / ".git/config").open("a") as config:
        config.write(HOSTILE.format(canary=canary, hooks=hooks))
    return folder / ".git"


def begin(root: Path, git: Path | None) -> None:
    """The folder that every script starts from."""
    root.mkdir()
    (root / ".gitignore").write_text(IGNORE)
    (root / ".gitattributes").write_text("* text=auto filter=evil\n")
    (root / "tracked.log").write_text("tracked, and ignored")
    (root / "crlf.txt").write_bytes(b"one\r\ntwo\n")
    (root / "sub").mkdir()
    (root / "sub/empty").mkdir(mode=0o711)
    (root / "out").mkdir()
    (root / "nested").mkdir()
    (root / "nested/inside").write_text("of a repository of its own")
    if git is not None:
        shutil.copytree(git, root / ".git")
        shutil.copytree(git, root / "nested/.git")


class Desk:
    """A root and a store, with the trees of the last two checkpoints."""

    def __init__(self, root: Path, store: Contents) -> None:
        self.root, self.store = root, store
        self.known: bytes | None = None
        self.count = 0

    def take(self, beside: bytes | None = None) -> Taken:
        """A checkpoint of now, saved and read again."""
        touched = [self.root / path for path in TOUCHED]
        taken = take(self.root, self.store, touched=touched, known=self.known, beside=beside, env=ENV)
        self.count += 1
        row = CheckpointRow(id=f"k_{self.count}", session="s", root=str(self.root))
        self.store.save(row, taken.tree)
        self.known = self.store.tree(row.id)
        assert self.known == taken.tree
        return taken

    def restore(self, want: Taken, now: Taken) -> Restored:
        """Give back how it was."""
        return restore(self.root, self.store, want=want.tree, now=now.tree)


def paths() -> st.SearchStrategy[str]:
    """Paths that meet each other often; ignored ones only at the top and below `out`, so that nothing covered needs
    the place of something that is not.
    """
    plain = st.lists(st.sampled_from(NAMES[:-1]), min_size=1, max_size=3).map("/".join)
    return st.one_of(plain, plain, st.sampled_from(("keep.log", "x.log", "out/kept.txt", "out/other", "tracked.log")))


def modes() -> st.SearchStrategy[int]:
    """Modes with which a file or a folder can still be used by its owner, and some with which it cannot."""
    return st.sampled_from((0o644, 0o755, 0o600, 0o400, 0o4755, 0o2750, 0o1777, 0o444, 0o000, 0o555))


def edits() -> st.SearchStrategy[list[Edit]]:
    """Scripts of edits."""
    content = st.one_of(st.binary(max_size=40), st.sampled_from((b"same size 1", b"same size 2", b"x\r\ny\n")))
    one = st.one_of(
        st.tuples(st.just("write"), paths(), content, modes()),
        st.tuples(st.just("in place"), paths(), content),
        st.tuples(st.just("sly"), paths()),
        st.tuples(st.just("delete"), paths()),
        st.tuples(st.just("rename"), paths(), paths()),
        st.tuples(st.just("chmod"), paths(), modes()),
        st.tuples(st.just("link"), paths(), st.sampled_from(("a", "../..", "/etc/passwd", "gone", "bad\udcfe"))),
        st.tuples(st.just("hard"), paths(), paths()),
        st.tuples(st.just("mkdir"), paths()),
        st.tuples(st.just("shell"), st.sampled_from(SHELL)),
    )
    return st.lists(one, min_size=1, max_size=12)


SHELL = (
    "mv sub moved; mkdir -p sub/x; echo new > sub/x/y",
    "rm -rf nested a",
    'for f in *; do [ -f "$f" ] && printf more >> "$f"; done; true',
    "find . -path ./.git -prune -o -type f -name 'b*' -exec chmod 700 {} +",
    "ln -sfn sub/empty way; rmdir sub/empty 2>/dev/null; cp -p crlf.txt copy; touch -d '2001-01-01' crlf.txt",
    "tar cf t.tar sub 2>/dev/null; rm -rf sub; tar xf t.tar 2>/dev/null; rm -f t.tar",
)


def play(root: Path, script: list[Edit]) -> None:
    """Do the edits that can be done."""
    for kind, *arguments in script:
        with suppress(OSError, shutil.Error):
            _EDITS[kind](root, *arguments)


def _write(root: Path, path: str, content: bytes, mode: int) -> None:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(content)
    full.chmod(mode)


def _in_place(root: Path, path: str, content: bytes) -> None:
    with (root / path).open("r+b") as file:
        file.write(content)


def _sly(root: Path, path: str) -> None:
    """Other content of the same size, with the old time of change."""
    full = root / path
    if full.is_symlink():
        return
    old = full.stat()
    full.write_bytes(bytes((byte + 1) % 256 for byte in full.read_bytes()))
    os.utime(full, ns=(old.st_atime_ns, old.st_mtime_ns))


def _delete(root: Path, path: str) -> None:
    full = root / path
    if full.is_dir() and not full.is_symlink():
        shutil.rmtree(full)
    else:
        full.unlink()


def _rename(root: Path, path: str, to: str) -> None:
    if to in (*TOUCHED, "tracked.log") and (root / path).is_dir():
        return  # what is in it would be ignored, and stay, and so would the folder
    if next((root / path).rglob(".git"), None) is not None:
        return  # git's own data is not moved back, so the folder around it stays where it is
    (root / to).parent.mkdir(parents=True, exist_ok=True)
    (root / path).rename(root / to)


def _chmod(root: Path, path: str, mode: int) -> None:
    if not (root / path).is_symlink():
        (root / path).chmod(mode)


def _link(root: Path, path: str, target: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).symlink_to(target)


def _hard(root: Path, path: str, to: str) -> None:
    os.link(root / path, root / to, follow_symlinks=False)


def _mkdir(root: Path, path: str) -> None:
    (root / path).mkdir(parents=True)


def _shell(root: Path, command: str) -> None:
    subprocess.run(["/bin/sh", "-c", command], cwd=root, env=ENV, check=False, capture_output=True)


_EDITS: dict[str, Callable[..., None]] = {
    "write": _write,
    "in place": _in_place,
    "sly": _sly,
    "delete": _delete,
    "rename": _rename,
    "chmod": _chmod,
    "link": _link,
    "hard": _hard,
    "mkdir": _mkdir,
    "shell": _shell,
}
