"""The tool read_pyproject."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.secrets import redact
from gongfu.toolkit.python_project import Project, Projects, plain, read_toml, table, text_of
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome

_MOST = 80  # entries of one list
_FILES = (
    "pyproject.toml", "setup.cfg", "setup.py", "package.json", "Cargo.toml", "go.mod",
)  # fmt: skip


class ProjectInfo:
    """See the module."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    async def _facts(self, args: dict[str, Any]) -> Facts:
        project = self._projects.find(args.get("cwd") or "")
        section: str = args.get("section") or ""
        title = section[:100].encode("utf-8", "replace").decode() or self._projects.workspace.show(project.root)
        return Facts(access=("read",), paths=(str(project.root),), title=title)

    def _claims(self, _args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._projects.workspace.root)),)

    @tool(access="read", facts=_facts, claims=_claims)
    async def read_pyproject(self, section: str = "", cwd: str = "") -> Outcome:
        project = self._projects.find(cwd, again=True)
        if section:
            text = redact(_section(project, section))
            return Outcome(text=text, display=text_display(text, section))
        parts = [part for part in self._parts(project) if part]
        if not parts:
            raise ToolFailure(
                f"{self._projects.workspace.show(project.root)} has none of {', '.join(_FILES)}, requirements*.txt"
            )
        text = redact("\n".join(parts))
        return Outcome(text=text, display=text_display(text, parts[0]))

    def _parts(self, project: Project) -> Iterator[str]:
        yield project.problem
        yield from _python(project)
        yield from _setup_cfg(project)
        yield from _requirements(project)
        yield from _package(project.json("package.json"))
        yield from _cargo(project)
        if module := re.search(r"(?m)^module\s+(\S+)", project.text("go.mod")):
            yield f"go.mod: module {module[1]}"
        if project.env is not None:
            yield f"environment: {self._projects.workspace.show(project.env)}{_version(project)}"
        elif project.manager:
            yield f"environment: kept by {project.manager}"


def _python(project: Project) -> Iterator[str]:
    data = plain(project.settings.get("project")) or plain(project.tool("poetry"))
    build = plain(project.settings.get("build-system"))
    if data:
        dynamic = _texts(data.get("dynamic"))
        version = str(data.get("version") or ("(dynamic)" if "version" in dynamic else "(no version)"))
        yield f"{data.get('name', '(no name)')} {version}: {data.get('description', '')}".rstrip(": ")
        yield _field("python", data.get("requires-python"))
        yield _listed("dependencies", data.get("dependencies"))
        extras = plain(data.get("optional-dependencies"))
        for name, value in extras.items():
            yield _listed(f"extra {name}", value)
        for kind in ("scripts", "gui-scripts"):
            yield _listed(kind, [f"{k} = {v}" for k, v in plain(data.get(kind)).items()])
        yield _field("license", data.get("license"))
        yield _listed("dynamic", dynamic)
    for name, value in plain(project.settings.get("dependency-groups")).items():
        yield _listed(f"group {name}", value)
    groups = plain(plain(project.tool("poetry")).get("group"))
    for name, value in groups.items():
        yield _listed(f"group {name}", plain(value).get("dependencies"))
    if build:
        yield _field(
            "build backend", f"{build.get('build-backend', 'setuptools')} ({', '.join(_texts(build.get('requires')))})"
        )
    tools = plain(project.settings.get("tool"))
    if tools:
        yield _listed("tools configured", sorted(tools))


def _setup_cfg(project: Project) -> Iterator[str]:
    import configparser  # only for old projects

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(project.text("setup.cfg"))
    except configparser.Error as error:
        yield f"setup.cfg is broken: {str(error).splitlines()[0]}"
        return
    if parser.has_section("metadata"):
        name, version = (parser.get("metadata", key, fallback="") for key in ("name", "version"))
        yield f"setup.cfg: {name} {version}".rstrip()
    if parser.has_section("options"):
        yield _field("python", parser.get("options", "python_requires", fallback=""))
        yield _listed("dependencies", parser.get("options", "install_requires", fallback="").split("\n"))


def _requirements(project: Project) -> Iterator[str]:
    for path in sorted(project.root.glob("requirements*.txt"))[:10]:
        lines = [re.sub(r"\s+#.*", "", line).strip() for line in text_of(path, project.workspace).splitlines()]
        yield _listed(path.name, [line for line in lines if line and not line.startswith("#")])


def _package(data: dict[str, Any]) -> Iterator[str]:
    if data:
        yield f"package.json: {data.get('name', '(no name)')} {data.get('version', '')}".rstrip()
        yield _listed("scripts", [f"{k}: {v}" for k, v in plain(data.get("scripts")).items()])
        for kind in ("dependencies", "devDependencies", "peerDependencies"):
            yield _listed(kind, [f"{k} {v}" for k, v in plain(data.get(kind)).items()])


def _cargo(project: Project) -> Iterator[str]:
    data, problem = read_toml(project.root / "Cargo.toml", project.workspace)
    yield problem
    package = plain(data.get("package"))
    if package:
        yield f"Cargo.toml: {package.get('name')} {package.get('version')} (edition {package.get('edition', '2015')})"
    for kind in ("dependencies", "dev-dependencies"):
        yield _listed(kind, data.get(kind))


def _field(name: str, value: object) -> str:
    if isinstance(value, dict):
        value = next(iter(cast("dict[str, object]", value).values()), "")
    return f"{name}: {value}" if value else ""


def _listed(name: str, value: object) -> str:
    items = _texts(value)
    more = f", … {len(items) - _MOST} more" if len(items) > _MOST else ""
    return f"{name}: {', '.join(items[:_MOST])}{more}" if items else ""


def _texts(value: object) -> list[str]:
    """A list of texts out of data that may be anything; tables give "name value"."""
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return [f"{k} {v if isinstance(v, str) else plain(v).get('version', '')}".strip() for k, v in pairs]
    if isinstance(value, list):
        return [str(v).strip() for v in cast("list[object]", value) if str(v).strip()]
    return []


def _section(project: Project, section: str) -> str:
    if project.problem:
        raise ToolFailure(project.problem)
    names = section.split(".")
    found = table(project.settings, *names)
    if found is None:
        outer = table(project.settings, *names[:-1]) if len(names) > 1 else project.settings
        if outer is not None and names[-1] in outer:
            return f"{section} = {_json(outer[names[-1]])}"
        near = ", ".join(sorted(outer)) if outer else ", ".join(sorted(project.settings))
        raise ToolFailure(f"pyproject.toml has no {section[:80]!r}; there are: {near or 'no tables'}")
    return "\n".join([f"[{section}]", *(f"{name} = {_json(value)}" for name, value in found.items())])


def _json(value: object) -> str:
    return msgspec.json.encode(value, enc_hook=str).decode()


def _version(project: Project) -> str:
    if project.env is None:
        return ""
    found = re.search(r"(?m)^version(?:_info)?\s*=\s*(\S+)", text_of(project.env / "pyvenv.cfg"))
    return f" (Python {found[1]})" if found else ""
