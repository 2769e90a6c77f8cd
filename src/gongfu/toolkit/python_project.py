"""What kind of project the work is, which environment of its own it has, and which tools are there."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.places import Places, unasked
from gongfu.toolkit.programs import Programs
from gongfu.tools.protocol import Claim, Facts
from gongfu.workspace.ignore import walk
from gongfu.workspace.root import Located, Workspace

_MARKS = (
    "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt", "Pipfile", "package.json", "go.mod", "Cargo.toml",
    "tox.ini", "pytest.ini",
)  # fmt: skip
_PYPI = ("pypi.org:443", "files.pythonhosted.org:443")  # house:allow - the default of pip, told before it is asked
_INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
_BIN = "Scripts" if sys.platform == "win32" else "bin"
_EXE = ".exe" if sys.platform == "win32" else ""
_LOCKS = {"poetry.lock": "poetry", "uv.lock": "uv", "pdm.lock": "pdm"}
_ENTRIES = 20_000
_LINKS = 200
_MOST = 1 << 20  # bytes of a file of settings


class Project(Base, frozen=True):
    """The project around a folder. `env` is the folder of its own Python environment, `manager` the program that
    runs things in one that lies elsewhere ("" for none), `settings` its pyproject.toml. Links that lead out of the
    `workspace`, or to a secret in it, are not read.
    """

    root: Path
    settings: dict[str, Any] = {}
    env: Path | None = None
    manager: str = ""
    problem: str = ""
    workspace: Workspace | None = None

    def text(self, name: str) -> str:
        """The beginning of a file of settings; "" when it is not there, or is a link out of the workspace."""
        return text_of(self.root / name, self.workspace)

    def json(self, name: str) -> dict[str, Any]:
        """The object in a JSON file; {} when there is none."""
        return json_of(self.root / name, self.workspace)

    def has(self, *names: str) -> bool:
        """Whether one of the files is there."""
        return any((self.root / name).is_file() for name in names)

    def tool(self, *names: str) -> dict[str, Any] | None:
        """The table `[tool.a.b]` of pyproject.toml; None when there is none."""
        return table(self.settings, "tool", *names)


def table(data: dict[str, Any], *names: str) -> dict[str, Any] | None:
    """A table inside tables; None where one is missing or is no table."""
    for name in names:
        inner = data.get(name)
        if not isinstance(inner, dict):
            return None
        data = cast("dict[str, Any]", inner)
    return data


class Projects:
    """Finds projects for the tools of one session, and the programs that belong to them."""

    def __init__(self, workspace: Workspace, programs: Programs) -> None:
        self.workspace = workspace
        self.programs = programs
        self.places = Places(workspace)

    def find(self, cwd: str = "", *, again: bool = False) -> Project:
        """The project around `cwd`. ToolFailure when that is no folder."""
        located = (self.places.again if again else self.places.judge)(cwd or ".")
        if not located.path.is_dir():
            raise ToolFailure(f"cwd {located.shown} is no folder; nothing was run")
        root = self._root(located.path)
        settings, problem = read_toml(root / "pyproject.toml", self.workspace)
        env = self._env(root)
        return Project(root=root, settings=settings, env=env, manager="" if env else self._manager(root, settings),
                       problem=problem, workspace=self.workspace)  # fmt: skip

    def _root(self, folder: Path) -> Path:
        for place in (folder, *folder.parents):
            if not self.workspace.contains(place):
                break
            if any((place / mark).is_file() for mark in _MARKS):
                return place
        return folder

    def _env(self, root: Path) -> Path | None:
        places = [root, *(p for p in root.parents if self.workspace.contains(p))]
        for place in places:
            for name in (".venv", "venv", "env"):
                if (place / name / "pyvenv.cfg").is_file() and python_of(place / name).exists():
                    return place / name
        for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            given = self.programs.given.get(name, "")
            if given and python_of(Path(given)).exists() and not is_own(Path(given)):
                return Path(given)
        return None

    def _manager(self, root: Path, settings: dict[str, Any]) -> str:
        found = next((name for lock, name in _LOCKS.items() if (root / lock).is_file()), "")
        for name in ("poetry", "pdm", "hatch", "uv"):
            envs = table(settings, "tool", name, "envs") if name == "hatch" else table(settings, "tool", name)
            found = found or (name if envs is not None else "")
        return found if found and self.which(found) else ""

    def which(self, name: str) -> str:
        """Where a program lies on the person's PATH; "" when it is not there."""
        return shutil.which(name, path=self.programs.env.get("PATH", os.defpath)) or ""

    def python(self, project: Project) -> list[str]:
        """How Python is started for the project. ToolFailure when there is none."""
        if project.env is not None:
            return [str(python_of(project.env))]
        if project.manager:
            return [project.manager, "run", "python"]
        found = self.which("python3") or self.which("python")
        if not found:
            raise ToolFailure("there is no Python here: neither an environment of the project (.venv) nor one on PATH")
        return [found]

    def program(self, project: Project, name: str) -> list[str] | None:
        """How a program is started: that of the project's environment, else the one on PATH; None without any."""
        for folder in [project.env / _BIN] if project.env is not None else []:
            if (folder / f"{name}{_EXE}").is_file():
                return [str(folder / f"{name}{_EXE}")]
        local = project.root / "node_modules" / ".bin" / (f"{name}.cmd" if _EXE else name)
        if local.exists():
            return [str(local)]
        if found := self.which(name):
            return [found]
        return [project.manager, "run", name] if project.manager else None

    def needed(self, project: Project, *names: str) -> list[str]:
        """The first of some programs. ToolFailure, with the command that brings the first, when there is none."""
        found = next((argv for name in names if (argv := self.program(project, name))), None)
        if found is None:
            raise ToolFailure(
                f"{' or '.join(names)} is not installed in the project's environment or on PATH; nothing was done. "
                f"It is installed with: {self.installs(project, names[0])}"
            )
        return found

    def installs(self, project: Project, *packages: str) -> str:
        """The command that brings packages into the project's environment."""
        words = " ".join(packages)
        if project.env is None and not project.manager:
            return f"python3 -m venv .venv && {Path('.venv') / _BIN / 'python'} -m pip install {words}"
        if project.manager:
            return f"{project.manager} add --dev {words}"
        return f"{python_of(cast('Path', project.env))} -m pip install {words}"

    def index_hosts(self, options: Sequence[str] = ()) -> tuple[str, ...]:
        """The hosts that an installer of Python packages talks to: those that the person or a call names, else PyPI."""
        given = [self.programs.env.get(name, "") for name in _INDEXES]
        given += [option.partition("=")[2] for option in options if "index" in option or "find-links" in option]
        found = [
            match for text in given for match in re.findall(r"(https?)://(?:[^@/\s]*@)?([^/:\s]+)(?::(\d+))?", text)
        ]
        hosts = dict.fromkeys(f"{host}:{port or (443 if scheme == 'https' else 80)}" for scheme, host, port in found)
        if "--no-index" in options:
            return tuple(hosts)
        replaced = any(self.programs.env.get(name) for name in _INDEXES if "EXTRA" not in name)
        return (*hosts, *(() if replaced or any(o.startswith("--index-url") for o in options) else _PYPI))

    def located(self, given: Sequence[str], *, again: bool = False) -> list[Located]:
        """Where the paths of a call lead. ToolFailure for one that is not there."""
        found = [(self.places.again if again else self.places.judge)(text) for text in given]
        for one in found:
            if not one.path.exists():
                raise self.places.missing(one)
        return found

    def facts(
        self, project: Project, command: str, *, title: str, given: Sequence[Located] = (), writes: bool = False
    ) -> Facts:
        """Facts of a call that runs `command` in the project on the paths `given`, files among which may change."""
        paths = tuple(path for one in given for path in self.places.paths(one, write=writes))
        changed = tuple(path for path in paths if writes and not Path(path).is_dir())
        return Facts(
            access=("execute",), paths=(str(project.root), *paths), writes=changed, command=command,
            cwd=str(project.root), title=title, preview=command_preview(command, project.root),
        )  # fmt: skip


def everything(_tools: object, _args: dict[str, Any]) -> tuple[Claim, ...]:
    """The claims of a call that runs a program: nobody knows what that touches."""
    return (Claim(resource="*", write=True),)


def command_preview(command: str, cwd: Path) -> dict[str, Any]:
    """What the person is shown of a command that is to run."""
    return {"kind": "command", "command": command, "cwd": str(cwd), "code": None, "output": ""}


def python_of(env: Path) -> Path:
    """The interpreter of an environment."""
    return env / _BIN / f"python{_EXE}"


def led_out(places: Sequence[Path], suffixes: Collection[str], workspace: Workspace) -> tuple[str, ...]:
    """Files outside the workspace, and secrets, that links below the folders `places` lead to: formatters and linters
    read and write through them."""
    found: dict[str, None] = {}
    for place in places:
        for path in walk(place, workspace, limit=_ENTRIES) if place.is_dir() else ():
            if path.suffix in suffixes and path.is_symlink() and not unasked(path, workspace):
                found[os.path.realpath(path)] = None
    return tuple(found)[:_LINKS]


def is_own(env: Path) -> bool:
    """Whether an environment is the one that Gongfu itself runs in."""
    return os.path.realpath(env) == os.path.realpath(sys.prefix)


def read_toml(path: Path, workspace: Workspace | None) -> tuple[dict[str, Any], str]:
    """The tables of a TOML file, {} when it is not there; and what is wrong with it."""
    import tomllib  # only when a project is looked at

    if workspace is not None and not unasked(path, workspace):
        return {}, f"{path.name} is not read: it leads out of the workspace, is a secret, or a rule forbids it"
    try:
        with path.open("rb") as file:
            text = file.read(_MOST).decode("utf-8")
        return tomllib.loads(text), ""
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"{path.name} cannot be read: {error.strerror}"
    except (ValueError, RecursionError) as error:
        return {}, f"{path.name} is broken: {error}"


def text_of(path: Path, workspace: Workspace | None = None) -> str:
    """The beginning of a file of settings; "" when it is not there, or leads out of `workspace` or to a secret."""
    if workspace is not None and not unasked(path, workspace):
        return ""
    try:
        if not path.is_file():  # a pipe would never end
            return ""
        with path.open("rb") as file:
            return file.read(_MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def json_of(path: Path, workspace: Workspace | None) -> dict[str, Any]:
    """The object in a JSON file; {} when there is none."""
    import msgspec

    try:
        found: object = msgspec.json.decode(text_of(path, workspace).encode())
    except (msgspec.DecodeError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def plain(value: object) -> Mapping[str, Any]:
    """A table out of data that may be anything."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
