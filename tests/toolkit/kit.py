"""What the tests of command tools share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from gongfu.core.errors import UserError
from gongfu.core.events import JobChanged
from gongfu.toolkit.shell import ShellTools
from gongfu.workspace.jobs import Jobs


class Ctx:
    """A call context that keeps what was shown and answers as told."""

    def __init__(self, answer: tuple[str, Literal["person", "policy", "timeout", "cancel"]] = ("", "policy")) -> None:
        self.call_id = "call"
        self.room = 32_768
        self.shown = ""
        self.pieces: list[str] = []
        self.asked: list[tuple] = []
        self._answer = answer

    def output(self, text: str, /) -> None:
        self.shown += text
        self.pieces.append(text)

    async def ask(
        self, text: str, /, *, options: tuple[str, ...] = (), default: str = "", seconds: float | None = None
    ):
        self.asked.append((text, options, default, seconds))
        return self._answer


class Writer:
    def __init__(self, path: Path, full: bool) -> None:
        self.path = path
        self.id = path.name
        self._file = path.open("wb", buffering=0)
        self._full = full

    def write(self, data: bytes) -> None:
        if self._full:
            raise UserError("store.artifact_full", path=self.path)
        self._file.write(data)

    def close(self) -> None:
        self._file.close()


class Store:
    """Artifacts as plain files; a `full` one takes nothing."""

    def __init__(self, folder: Path, *, full: bool = False) -> None:
        self._folder = folder / "artifacts"
        self._full = full
        self._count = 0

    def writer(self) -> Writer:
        self._folder.mkdir(exist_ok=True)
        self._count += 1
        return Writer(self._folder / f"a{self._count}", self._full)


@asynccontextmanager
async def shell_tools(
    directory: Path,
    env: Mapping[str, str],
    *,
    store: Store | None = None,
    changes: list[JobChanged] | None = None,
    **more,
) -> AsyncGenerator[ShellTools, None]:
    """The tools of one session; its jobs end with the block."""
    store = store or Store(directory)
    jobs = Jobs(changed=(changes if changes is not None else []).append, artifact=store.writer)
    try:
        yield ShellTools(directory=directory, env=env, jobs=jobs, artifact=store.writer, **more)
    finally:
        await jobs.close()
