"""What the tests of command tools share."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from gongfu.config.settings import Sandbox as SandboxSettings
from gongfu.core.errors import ToolFailure, UserError
from gongfu.core.events import JobChanged
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.shell import ShellTools
from gongfu.tools.protocol import Leave, Outcome, Tool
from gongfu.tools.validate import validate
from gongfu.workspace.jobs import Jobs
from gongfu.workspace.root import Workspace
from gongfu.workspace.sandbox.sandbox import Sandbox

SANDBOX = os.environ.get("GONGFU_TEST_SANDBOX", "off")  # the tests of commands hold in any


class Ctx:
    """A call context that keeps what was shown and answers as told."""

    def __init__(self, answer: tuple[str, Literal["person", "policy", "timeout", "cancel"]] = ("", "policy")) -> None:
        self.call_id = "call"
        self.room = 32_768
        self.leave = Leave()
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
    """The tools of one session; its jobs end with the block. They run in the sandbox that is asked for."""
    store = store or Store(directory)
    jobs = Jobs(changed=(changes if changes is not None else []).append, artifact=store.writer)
    kind = more.pop("sandbox", SANDBOX)
    sandbox = Sandbox(SandboxSettings(kind=kind), Workspace(directory, directory), env)
    try:
        programs = Programs(
            directory=directory, env=env, keep=more.pop("keep_env", ()), trusted=more.pop("trusted", None),
            sandbox=sandbox,
        )  # fmt: skip
        yield ShellTools(programs, jobs=jobs, artifact=store.writer, **more)
    finally:
        await jobs.close()
        await sandbox.close()


class Workbench:
    """Tools by name, called directly in the folder `root`: what failed has changed no file."""

    root: Path
    tools: dict[str, Tool]

    async def call(self, name: str, **args: Any) -> Outcome:
        tool = self.tools[name]
        checked = validate(tool.spec.parameters, args)
        assert checked.problem == ""
        facts = await tool.facts(checked.args)
        tool.claims(checked.args)
        done = await tool.run(checked.args, Ctx())
        if facts.preview.get("kind") == "diff":  # what was asked for is what was done
            assert facts.preview == done.display
        return done

    async def fails(self, name: str, **args: Any) -> str:
        before = self.tree()
        with pytest.raises(ToolFailure) as failure:
            await self.call(name, **args)
        assert self.tree() == before
        return str(failure.value)

    def tree(self) -> dict[str, Any]:
        return {str(p.relative_to(self.root)): p.read_bytes() for p in self.root.rglob("*") if p.is_file()}
