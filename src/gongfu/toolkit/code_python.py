"""Where the modules of a Python project come from: found by looking only, nothing is run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from gongfu.workspace.root import Workspace

_NAMES = (".venv", "venv", "env", ".env")
_SOURCES = ("src", "lib", "python")
_PACKAGES = ("site-packages", "dist-packages")
_MOST = 200


def sources(workspace: Workspace) -> tuple[str, ...]:
    """The folders of the workspace that modules are imported from."""
    tops = dict.fromkeys((workspace.root, workspace.directory, *workspace.extra))
    found = [top / name for top in tops for name in _SOURCES if (top / name).is_dir()]
    return tuple(dict.fromkeys(map(str, (*found, *tops))))


def packages(workspace: Workspace, env: Mapping[str, str]) -> tuple[str, ...]:
    """The folders with the packages of the project's own environment; () when it has none."""
    for folder in _environments(workspace, env):
        found = [*folder.glob("lib/python3*/site-packages"), folder / "Lib" / "site-packages"]
        found = [f for f in found if f.is_dir() and _real(f).name in _PACKAGES]
        if found:
            own = workspace.contains(_real(folder))  # whoever wrote the project wrote this environment
            linked = (p for f in found for p in _linked(f) if not own or workspace.contains(_real(p)))
            return tuple(dict.fromkeys(map(str, (*found, *linked))))
    return ()


def environment(workspace: Workspace, env: Mapping[str, str]) -> Path | None:
    """The project's own environment."""
    return next(_environments(workspace, env), None)


def _environments(workspace: Workspace, env: Mapping[str, str]) -> Iterator[Path]:
    places = [top / name for top in dict.fromkeys((workspace.directory, workspace.root)) for name in _NAMES]
    active = env.get("VIRTUAL_ENV") or env.get("CONDA_PREFIX")
    for place in (*places, *([Path(active)] if active else [])):
        if (place / "pyvenv.cfg").is_file() or (place / "conda-meta").is_dir():
            yield place


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _linked(folder: Path) -> Iterator[Path]:
    """Folders that `.pth` files add (packages under development); their lines of code are not run."""
    for file in sorted(folder.glob("*.pth"))[:_MOST]:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")[:65536]
        except OSError:
            continue
        for line in text.splitlines()[:_MOST]:
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                added = folder / line.strip()
                if added.is_dir():
                    yield added
