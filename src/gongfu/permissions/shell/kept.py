"""What an undo does not bring back: ignored files, of which no copy is kept, and repositories inside others."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from gongfu.permissions.shell.paths import places_of, real_path
from gongfu.permissions.shell.state import State
from gongfu.permissions.shell.words import Word
from gongfu.workspace.ignore import Ignores
from gongfu.workspace.root import Workspace

_MADE = (
    r"(?i)_?build|\.build|cmake-build-.*|dist|dist-newstyle|out|\.output|target|node_modules|bower_components|vendor|pods"
    r"|deriveddata|__pycache__|\.?venv.*|env|\.tox|\.nox|\.eggs|.*\.egg-info|wheels|.*_cache|\.?cache|\.parcel-cache|\.next"
    r"|\.nuxt|\.svelte-kit|\.turbo|\.angular|\.gradle|\.terraform|\.dart_tool|\.stack-work|elm-stuff|\.hypothesis"
    r"|\.ipynb_checkpoints|\.benchmarks|\.serverless|\.vercel|storybook-static|coverage|htmlcov|\.coverage.*|\.nyc_output"
    r"|test-results|playwright-report|bin|obj|debug|release|site|logs?|\.?te?mp|\.ds_store|\.eslintcache|a\.out|core"
    r"|.*\.(py[cod]|o|so|a|d|class|log|te?mp|sw[op]|bak|orig|rej|out|exe|dll|dylib|gcda|gcno|tsbuildinfo|whl|pid|err|cache)"
    r"|.*\.(log|out)\.\d+|(junit|coverage).*\.(xml|json)|.*~"
)
"""Names of what a build, a test or a tool makes again."""
_BASES = r"(?i).*\.(db|sqlite3?|duckdb|mdb|rdb|dump)(-wal|-journal)?"
_MATCHES = 50


def is_made(path: str) -> bool:
    """Whether a path, which may be a pattern, lies in what a build, a test or a tool makes again."""
    return any(re.fullmatch(_MADE, re.sub(r"[*?]+", "x", name)) for name in path.split("/"))


def removes(state: State, word: Word) -> bool:
    """Whether removing what a word names may lose something that no undo brings back."""
    return any(_is_lost(path, state.workspace) for path in _meant(state, word))


def overwrites(state: State, word: Word) -> bool:
    """Whether a database that no undo brings back would be overwritten."""
    return word.plain and re.fullmatch(_BASES, word.text) is not None and removes(state, word)


def _meant(state: State, word: Word) -> list[str]:
    if not word.literal:
        return []
    paths = [place for place in places_of(word.text, state) if place is not None]
    if word.glob:
        return [match for path in paths for match in glob.glob(path)[:_MATCHES]]  # noqa: PTH207 - as a shell does it
    return paths


def _is_lost(path: str, workspace: Workspace) -> bool:
    if not os.path.lexists(path) or os.path.islink(path.rstrip("/")):  # noqa: PTH114 - only the link would go
        return False
    real = real_path(path)
    if not workspace.contains(Path(real)) or real in (str(workspace.root), *map(str, workspace.extra)):
        return False
    top = next((t for t in (*workspace.extra, workspace.root) if Path(real).is_relative_to(t)), None)
    if top is None:
        return False
    names = Path(real).relative_to(top).parts
    if any(re.fullmatch(_MADE, name) for name in names):
        return False
    if os.path.lexists(os.path.join(real, ".git")):  # noqa: PTH118
        return True
    here = Ignores.at(top, workspace)
    for at, name in enumerate(names, 1):
        folder = at < len(names) or os.path.isdir(real)  # noqa: PTH112
        if here.covers(name, folder=folder):
            return True
        if at < len(names):
            here = here.enter(name)
    return False
