"""Random days of several sessions and a person in one folder: whatever is given back, nothing of anybody's is lost."""

from __future__ import annotations

import os
import random
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gongfu.app.give_back import Given
from gongfu.app.shelf import Place, Shelf
from gongfu.core.errors import UserError
from gongfu.models.scripted import Call, Say
from gongfu.workspace.checkpoint.tree import FILE, FOLDER, LINK, Tree

from .undoing import Bench

pytestmark = pytest.mark.anyio

GIT = "git -c user.name=t -c user.email=t@localhost -c init.defaultBranch=main -c commit.gpgsign=false"
NAMES = [
    b"a", b"b", b"A", b"d/a", b"d/b", b"d/e/a", b"D/x", b"new\nline", b"bad\xff", b"\xc3\xa9", b"x.log", b"ign/one",
    b"sub/f", b"sub/g", b"-rf", b"sp ace", b"d/e", b"d", b"*", b"build/x", b".hidden",
]  # fmt: skip
NOTHING_DONE = ("undo.nothing", "undo.nothing_left", "undo.nothing_undone", "undo.changed_since", "undo.no_prompts")


def picture(root: Path) -> dict[bytes, tuple[Any, ...]]:
    """Everything but `.git`, by the bytes of its name; pipes and huge files are never read."""
    found: dict[bytes, tuple[Any, ...]] = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        for names in (folders, files):
            if b".git" in names:
                names.remove(b".git")
        for name in (*folders, *files):
            path = folder + b"/" + name
            status = os.lstat(path)
            mode, kind = stat.S_IMODE(status.st_mode), stat.S_IFMT(status.st_mode)
            key = os.path.relpath(path, os.fsencode(root))
            if kind == stat.S_IFLNK:
                found[key] = (LINK, os.readlink(path))  # noqa: PTH115 - bytes
            elif kind == stat.S_IFREG and status.st_size < 1 << 20:
                found[key] = (FILE, Path(os.fsdecode(path)).read_bytes(), mode)
            else:
                found[key] = (FOLDER if kind == stat.S_IFDIR else kind, mode, status.st_size * (kind == stat.S_IFREG))
    return found


def quoted(name: bytes) -> str:
    return "$'./" + "".join(f"\\x{byte:02x}" for byte in name) + "'"


class Day:
    """What happens in one folder, decided by `seed`."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.chance = random.Random(seed)
        self.bench = Bench(folder)
        self.root = self.bench.root
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "keep").write_text("keep")
        self.names = self.chance.sample(NAMES, self.chance.randint(4, 9))
        self.git = self.chance.random() < 0.7
        self.sessions: list[str] = []
        self.count = 0
        self.settled: tuple[str, dict[bytes, Any], dict[bytes, Any]] | None = None

    def change(self, who: str) -> str:
        """One line for a shell."""
        self.count += 1
        one, other = (quoted(self.chance.choice(self.names)) for _ in range(2))
        text, mode = f"{who}{self.count}", self.chance.choice(["600", "644", "755", "444"])
        return self.chance.choice([
            f'mkdir -p -- "$(dirname -- {one})"; [ -p {one} ] || echo {text} > {one}',
            f"[ -p {one} ] || echo {text} >> {one}",
            f"rm -rf -- {one}",
            f"mv -f -- {one} {other}",
            f"cp -a -- {one} {other}",
            f"ln -sfn -- ../outside {one}",
            f"ln -- {one} {other}",
            f"[ -L {one} ] || chmod {mode} -- {one}",
            f"rm -rf -- {one}; mkdir -p {one}; echo {text} > {one}/in",
            f"rm -rf -- {one}; echo {text} > {one}",
            self.chance.choice(["mv a A", "mv d D", "mv D d"]),
            f"rm -rf -- {one}; mkfifo {one}",
            f"[ -p {one} ] || truncate -s 60M {one}",
            self.chance.choice(["echo b >> .gitignore", "echo d/ >> .gitignore", "rm -f .gitignore"]),
            f"chmod {self.chance.choice(['555', '500'])} d",
            f"{GIT} init -q sub; echo {text} > sub/f; {GIT} -C sub add f; {GIT} -C sub commit -qm x",
        ])  # fmt: skip

    def with_git(self) -> str:
        """Something that a person does between turns."""
        return self.chance.choice([
            f"{GIT} add -A; {GIT} commit -qm c", f"{GIT} checkout -q -B other", f"{GIT} checkout -q -f main",
            f"{GIT} stash -q -u", f"{GIT} stash pop -q", f"{GIT} merge -q other -m m", f"{GIT} rebase -q other",
            f"{GIT} worktree add -q wt other", f"{GIT} reset -q --hard", f"{GIT} rm -q --cached a",
        ])  # fmt: skip

    def person(self, *lines: str) -> None:
        patient = ["timeout", "-k", "1", "10", "bash", "-c", "\n".join(lines)]  # a pipe among the files waits for ever
        subprocess.run(patient, cwd=self.root, capture_output=True, timeout=60, check=False)
        self.settled = None

    async def turn(self) -> None:
        lines = "\n".join(self.change("agent") for _ in range(self.chance.randint(1, 4)))
        steps: list[Any] = [Call("shell", {"command": f"{lines}\ntrue"})]
        if self.chance.random() < 0.5:
            steps.append(Call("write_file", {"path": self.chance.choice(["a", "ign/one", "x.log"]), "content": "tool"}))
        old = self.chance.choice([*self.sessions, *([""] if len(self.sessions) < 3 else [])])
        before = picture(self.root)
        session = await self.bench.play("Go.", *steps, Say("ok"), session=old)
        if session not in self.sessions:
            self.sessions.append(session)
        self.settled = (session, before, picture(self.root))

    async def give(self) -> None:
        """Give files back in some way, and hold what that did against what must never happen."""
        kind = self.chance.choice(["undo", "undo", "undo", "redo", "redo", "rewind", "restore", "force"])
        session = self.chance.choice(self.sessions)
        before, data, outside = picture(self.root), self.data(), picture(self.outside)
        async with self.bench.app() as app:
            try:
                if kind == "restore":
                    _, past = await app.checkpoints(session)
                    if not past.deeds:
                        return
                    given = await app.restore(past.deeds[0].before)
                elif kind in ("undo", "force"):
                    given = await app.undo(session, force=kind == "force")
                else:
                    given = await (app.redo if kind == "redo" else app.rewind)(session)
            except UserError as error:
                if error.key not in NOTHING_DONE:
                    raise
                assert picture(self.root) == before
                return
        after = picture(self.root)
        assert picture(self.outside) == outside
        assert self.data() == data
        changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        assert changed <= {os.fsencode(name) for name in given.marks}
        self.held(given, {name: before[name] for name in changed & set(before)})
        if kind == "undo" and self.settled is not None and self.settled[0] == session and not given.failed:
            _, old, new = self.settled
            if old != new == before:  # else it is an earlier turn that is undone
                left = {os.fsencode(name) for name in (*given.kept, *given.uncovered)}
                wrong = {name for name in {*old, *after} if old.get(name) != after.get(name)}
                assert all(any(_near(name, one) for one in left) or self.unkept(name, old, new) for name in wrong)
        self.settled = None

    def unkept(self, name: bytes, *pictures: dict[bytes, tuple[Any, ...]]) -> bool:
        """Whether something is ignored, or of a kind that is never kept, or a folder around such."""
        parts = name.split(b"/")
        if parts[0] in (b"ign", b"build", b"wt") or name.endswith(b".log") or b".gitignore" in self.names or self.loose:
            return True
        kinds = {one[name][0] for one in pictures if name in one}
        return not kinds <= {FILE, LINK, FOLDER}

    @property
    def loose(self) -> bool:
        """Whether rules of git have been changed, so that what is ignored cannot be told by names."""
        path = self.root / ".gitignore"
        return not path.is_file() or path.read_text() != RULES

    def data(self) -> dict[bytes, tuple[Any, ...]]:
        return picture(self.root / ".git") if (self.root / ".git").is_dir() else {}

    def held(self, given: Given, gone: dict[bytes, tuple[Any, ...]]) -> None:
        """Whatever was changed is in the checkpoint from before."""
        with Shelf(Place(root=self.root, store=self.bench.home / "checkpoints.sqlite", env={})) as shelf:
            tree = shelf.tree(given.before) if gone else b""
            for name, was in gone.items():
                item = Tree(tree).item(name)
                assert item is not None, name
                assert item.kind == was[0], name
                if was[0] == FILE:
                    assert shelf.content(os.fsdecode(name), tree) == was[1], name

    async def live(self) -> None:
        (self.root / ".gitignore").write_text(RULES)
        start = [f"{GIT} init -q"] if self.git else []
        self.person(*start, *(self.change("mine") for _ in range(self.chance.randint(3, 10))))
        if self.git:
            self.person("find . -type p -delete", f"{GIT} add -A; {GIT} commit -qm start; {GIT} branch other")
        await self.turn()
        for _ in range(self.chance.randint(4, 10)):
            what = self.chance.random()
            if what < 0.35:
                await self.turn()
            elif what < 0.5:
                self.person(*(self.change("mine") for _ in range(2)))
            elif what < 0.6 and self.git:
                self.person("find . -type p -delete", self.with_git())
            else:
                await self.give()


RULES = "*.log\nign/\nbuild\n"


def _near(name: bytes, other: bytes) -> bool:
    one, two = name.rstrip(b"/") + b"/", other.rstrip(b"/") + b"/"
    return one.startswith(two) or two.startswith(one)


@pytest.mark.parametrize("seed", range(6))
async def test_a_day(seed: int, tmp_path: Path) -> None:
    await Day(seed, tmp_path).live()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 400))
async def test_many_days(seed: int, tmp_path: Path) -> None:
    await Day(seed, tmp_path).live()
