"""The tool build_package."""

from __future__ import annotations

import shlex
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import anyio.to_thread

from gongfu.core.display import Display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.python_project import Project, Projects, command_preview, everything, plain
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Facts, Outcome
from gongfu.workspace.names import show_name
from gongfu.workspace.protect import might_be_secret
from gongfu.workspace.root import Located

_HOSTS = {"npm": (), "cargo": ("index.crates.io:443", "static.crates.io:443")}
_BUILDING = 900.0
_MOST_NAMES = 40
_JUNK = ("__pycache__", ".git", ".venv", "node_modules", ".DS_Store", ".idea", ".pytest_cache")


class Builds:
    """See the module."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    async def _facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        out = self._out(project, args.get("out") or "", again=False)
        isolation = args.get("isolation") is not False
        name, argv = self._command(project, out, isolation)
        hosts = _HOSTS.get(name, self._projects.index_hosts()) if isolation else ()
        command = shlex.join(argv)
        return Facts(
            access=("execute", "network") if hosts else ("execute",),
            paths=(str(project.root), *self._projects.places.paths(out, write=True)),
            writes=self._projects.places.paths(out, write=True), command=command, cwd=str(project.root), hosts=hosts,
            title=f"build with {name}", preview=command_preview(command, project.root),
        )  # fmt: skip

    @tool(access=("execute", "network"), facts=_facts, claims=everything)
    async def build_package(self, ctx: CallContext, *, out: str = "", isolation: bool = True, cwd: str = "") -> Outcome:
        project = self._projects.find(cwd, again=True)
        folder = self._out(project, out, again=True)
        name, argv = self._command(project, folder, isolation)
        places = [folder.path, project.root / "target" / "package"] if name == "cargo" else [folder.path]
        before = _files(places)
        ran = await self._projects.programs.run(argv, ctx, cwd=project.root, timeout=_BUILDING, show=True)
        said = redact("\n".join(filter(None, (ran.text.strip(), ran.note))))
        if not ran.ok:
            why = f"exit code {ran.code}" if ran.how.why_ended == "exit" else f"stopped after {ran.how.seconds:.0f} s"
            tail = "\n".join(said.splitlines()[-40:])
            hint = "" if isolation else " (what the build needs must be installed without isolation)"
            raise ToolFailure(f"nothing was built: {name} failed, {why}{hint}\n{tail}")
        made = [path for path, stamp in _files(places).items() if before.get(path) != stamp]
        if not made:
            raise ToolFailure(f"{name} ended well, but no new file is in {folder.shown}\n{said[-2000:]}")
        lines = [line for path in made for line in await anyio.to_thread.run_sync(self._account, path, project)]
        text = f"Built with {name}, nothing was uploaded:\n" + "\n".join(lines)
        display: Display = {
            "kind": "command", "command": shlex.join(argv), "cwd": str(project.root), "code": 0, "output": text,
            "note": "", "summary": ", ".join(path.name for path in made),
        }  # fmt: skip
        return Outcome(text=text, display=display)

    def _out(self, project: Project, out: str, *, again: bool) -> Located:
        text = out or str(project.root / "dist")
        located = (self._projects.places.again if again else self._projects.places.judge)(text)
        if located.path.exists() and not located.path.is_dir():
            raise ToolFailure(f"out {located.shown} is a file; give a folder")
        return located

    def _command(self, project: Project, out: Located, isolation: bool) -> tuple[str, list[str]]:
        """What builds the project. ToolFailure when there is nothing to build."""
        if project.problem:
            raise ToolFailure(f"{project.problem}; nothing was built")
        if project.has("pyproject.toml", "setup.py"):
            return self._python(project, str(out.path), isolation)
        if project.has("Cargo.toml"):
            return "cargo", [*self._projects.needed(project, "cargo"), "package", "--allow-dirty"]
        if project.has("package.json"):
            # npm does not make the folder
            argv = [*self._projects.needed(project, "npm"), "pack", "--pack-destination"]
            place = str(out.path) if out.path.is_dir() else "."
            return "npm", [*argv, place]
        raise ToolFailure("there is nothing to build here: no pyproject.toml, setup.py, Cargo.toml or package.json")

    def _python(self, project: Project, out: str, isolation: bool) -> tuple[str, list[str]]:
        python = self._projects.python(project)
        if self._has(project, "build"):
            return "build", [*python, "-m", "build", "--outdir", out, *([] if isolation else ["--no-isolation"])]
        for name in ("uv", "poetry", "hatch"):
            argv = self._projects.program(project, name) if isolation else None
            if argv and name == "uv":
                return name, [*argv, "build", "--out-dir", out]
            if argv and project.tool(name) is not None:
                return name, [*argv, "build", *(["--output", out] if name == "poetry" else [out])]
        # pip is nearly always there; it makes the wheel only
        alone = [] if isolation else ["--no-build-isolation"]
        return "pip wheel", [*python, "-m", "pip", "wheel", "--no-deps", *alone, "--wheel-dir", out, "."]

    def _has(self, project: Project, module: str) -> bool:
        if project.env is None:
            return False
        return any(project.env.glob(f"[lL]ib*/**/site-packages/{module}/__main__.py"))

    def _account(self, path: Path, project: Project) -> list[str]:
        """What an artifact is, and what is odd about it."""
        try:
            names, metadata = _inside(path)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
            return [f"{path.name}: cannot be read: {error}"]
        head = f"{self._projects.workspace.show(path)}: {path.stat().st_size:,} bytes, {len(names)} files"
        fields = {name: metadata.get(name, "") for name in ("Name", "Version", "Requires-Python")}
        told = [f"{name} {value}" for name, value in fields.items() if value]
        odd = _odd(names, metadata, project) if metadata else []
        tops = sorted({PurePosixPath(n).parts[0] for n in names if n})[:_MOST_NAMES]
        return [head, *([f"  {', '.join(told)}"] if told else []), f"  holds {', '.join(map(show_name, tops))}",
                *(f"  ! {what}" for what in odd)]  # fmt: skip


def _files(folders: Sequence[Path]) -> dict[Path, tuple[int, int]]:
    found: dict[Path, tuple[int, int]] = {}
    for folder in folders:
        if folder.is_dir():
            for path in folder.iterdir():
                if path.is_file():
                    status = path.stat()
                    found[path] = (status.st_mtime_ns, status.st_size)
    return found


def _inside(path: Path) -> tuple[list[str], dict[str, str]]:
    """The names in an archive, and the fields of its metadata."""
    from email.parser import BytesHeaderParser  # only for what was built

    raw = b""
    if path.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            file = next((n for n in names if n.endswith(".dist-info/METADATA")), "")
            raw = archive.read(file)[: 1 << 20] if file else b""
    elif path.name.endswith((".tar.gz", ".tgz", ".crate")):
        with tarfile.open(path) as archive:
            names = archive.getnames()
            member = next((n for n in names if n.count("/") == 1 and n.endswith("/PKG-INFO")), "")
            opened = archive.extractfile(member) if member else None
            raw = opened.read(1 << 20) if opened is not None else b""
    else:
        return [], {}
    message = BytesHeaderParser().parsebytes(raw)
    fields: dict[str, str] = {}
    for name, value in message.items():
        fields[name] = f"{fields[name]}\n{value}" if name in fields else str(value)
    if raw and (body := raw.partition(b"\n\n")[2].strip()):
        fields.setdefault("Description", body[:200].decode("utf-8", "replace"))
    return names, fields


def _odd(names: Sequence[str], metadata: dict[str, str], project: Project) -> list[str]:
    """What somebody would want to know before this is published."""
    found = [f"no {field} in the metadata" for field in ("Summary", "Description") if not metadata.get(field)]
    if not any(
        name.startswith("License") or (name == "Classifier" and "License ::" in value)
        for name, value in metadata.items()
    ):
        found.append("no license in the metadata")
    declared = str(plain(project.settings.get("project")).get("version") or "")
    if declared and metadata.get("Version") != declared:
        found.append(f"the version is {metadata.get('Version')}, but pyproject.toml says {declared}")
    if not any(n.endswith((".py", ".pyi", ".so", ".pyd")) for n in names):
        found.append("no module is in it")
    secret = [n for n in names if might_be_secret(f"/{n}", PurePosixPath(n).name)]
    found += [f"it may hold secrets: {', '.join(map(show_name, secret[:10]))}"] if secret else []
    junk = {part for n in names for part in PurePosixPath(n).parts if part in _JUNK}
    return found + ([f"it holds {', '.join(sorted(junk))}"] if junk else [])
