"""Small projects for the tests of the tools that work on them."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

from gongfu.toolkit.packages import package_tools
from gongfu.toolkit.programs import Programs
from gongfu.toolkit.python_tools import python_tools
from gongfu.workspace.root import Workspace
from tests.toolkit.kit import Ctx
from tests.toolkit.repos import environment

PYPROJECT = """\
[project]
name = "demo"
version = "1.2.3"
description = "A demo"
requires-python = ">=3.11"
dependencies = ["msgspec>=0.18"]

[project.optional-dependencies]
nice = ["rich"]

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["E", "F", "I"]

[tool.pytest.ini_options]
addopts = "-p no:xdist -p no:hypothesispytest -p no:cov"
"""


def person(tmp_path: Path) -> dict[str, str]:
    """The environment of a person whose PATH has ruff and pytest."""
    env = environment(tmp_path)
    return {**env, "PATH": os.pathsep.join([str(Path(sys.executable).parent), env["PATH"]])}


def project(tmp_path: Path, **files: str) -> Path:
    """A project with pyproject.toml; `files` by their names, `__` for a slash."""
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    put(work, {"pyproject.toml": PYPROJECT, **{name.replace("__", "/"): text for name, text in files.items()}})
    return work


def put(work: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def tools(work: Path, env: dict[str, str] | None = None) -> dict:
    programs = Programs(directory=work, env=env or person(work.parent))
    workspace = Workspace(work, work)
    return {t.spec.name: t for t in [*python_tools(workspace, programs), *package_tools(workspace, programs)]}


async def call(work: Path, called: str, /, *, env: dict[str, str] | None = None, **args) -> str:
    """The text of one direct call, judged first as the dispatcher does."""
    tool = tools(work, env)[called]
    await tool.facts(args)
    return (await tool.run(args, Ctx())).text


def wheel(folder: Path, name: str, version: str, needs: str = "") -> Path:
    """A wheel made by hand."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    required = f"Requires-Dist: {needs}\n" if needs else ""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", f"version = {version!r}\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path
