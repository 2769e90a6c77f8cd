"""A workspace whose turns are undone: an app with a scripted model, and the files to the byte."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import gongfu
from gongfu.app import App
from gongfu.core.events import AnyEvent
from gongfu.models.scripted import Scripted


def picture(root: Path) -> dict[str, tuple[Any, ...]]:
    """Everything below a folder but `.git`: kind, mode, and content or target."""
    found: dict[str, tuple[Any, ...]] = {}
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*folders, *files):
            path = Path(folder) / name
            status = path.lstat()
            mode = stat.S_IMODE(status.st_mode)
            key = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[key] = ("link", str(path.readlink()))
            elif path.is_dir():
                found[key] = ("folder", mode)
            else:
                found[key] = ("file", mode, path.read_bytes())
    return found


class Bench:
    """A folder `root`, a home, and apps on them one after the other."""

    def __init__(self, tmp_path: Path) -> None:
        self.root = tmp_path / "work"
        self.root.mkdir()
        self.home = tmp_path / "home"
        self.models: list[Scripted] = []

    def write(self, name: str, text: str = "text\n", mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    @asynccontextmanager
    async def app(self, *steps: Any, root: Path | None = None, **options: Any) -> AsyncGenerator[App]:
        """An app whose model plays `steps`."""
        model = Scripted(steps)
        self.models.append(model)
        env = {k: v for k, v in os.environ.items() if k in ("PATH", "TMPDIR")} | {"HOME": str(self.home.parent)}
        async with gongfu.open(
            root or self.root, home=self.home, root=root or self.root, env=env, model="s/m", providers={"s/m": model},
            permission=options.pop("permission", "full"), **options,
        ) as app:  # fmt: skip
            yield app

    async def turn(self, app: App, prompt: str, session: str = "") -> str:
        """One turn to its end; the id of its session."""
        talk = await app.session(session)
        ended = await (await talk.prompt(prompt)).result()
        assert ended.status == "done", ended
        return talk.id

    async def play(self, prompt: str, *steps: Any, session: str = "", **options: Any) -> str:
        """One turn in an app of its own."""
        async with self.app(*steps, **options) as app:
            return await self.turn(app, prompt, session)


def events(app: App, session: str, *kinds: type) -> Sequence[AnyEvent]:
    """What the log of a session holds of these kinds."""
    return [e.event for e in app.journal.read(session) if isinstance(e.event, kinds)]
