"""Decides everything that an App is made of, from files, environment and what the caller wants."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from gongfu.app.app import App
from gongfu.app.consent import rules_of
from gongfu.app.options import Options
from gongfu.app.trust import notices, standing
from gongfu.config.load import PROJECT_FILE, Flags, Loaded, load
from gongfu.config.paths import Places, places
from gongfu.config.settings import Limits
from gongfu.core.errors import UsageError
from gongfu.core.modes import NO_MODE
from gongfu.core.words import Language, language_of
from gongfu.engine.chosen import PERMISSIONS
from gongfu.engine.limits import LimitSpec
from gongfu.engine.pending import Answers
from gongfu.models.protocol import ModelProvider
from gongfu.permissions.policy import Mode
from gongfu.workspace.root import Workspace, find_root

RULES = ("mandatory-root", "mandatory-all", "optional")


def open(
    directory: str | Path | None = None,
    *,
    home: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    config: str = "",
    model: str = "",
    permission: str = "",
    yes: bool = False,
    answers: Answers = "ask",
    mode: str = "",
    root: str | Path | None = None,
    add_dirs: Sequence[str | Path] = (),
    max_steps: int | None = None,
    max_cost: float | None = None,
    max_minutes: float | None = None,
    max_tokens: int | None = None,
    language: str = "",
    rules: str = "",
    trust: bool = False,
    providers: Mapping[str, ModelProvider] | None = None,
) -> App:
    """An App for the folder `directory` (default: the current one). Nothing is sent, and nothing is written yet.

    `home` is where Gongfu keeps its files (else GONGFU_HOME, else ~/.gongfu), `env` stands for the environment,
    `config` names a configuration. `permission` is ask, edits, plan, auto or full; `yes` lets reads, edits and commands
    inside the workspace run and answers every other question no; `answers="no"` only does the latter. `mode` is the
    work mode of the sessions that are opened ("": none, or their own). `root` is the
    workspace (else the nearest folder with `.git`), `add_dirs` are further folders. Limits hold for one turn: requests,
    US dollars, minutes, tokens. `rules` is the word on all project rules for this run: mandatory-root, mandatory-all or
    optional. `trust` lets what lies in the folder take effect in this run. `providers` are ready models by reference.

    Raises UserError with one or two sentences for whatever a person can put right: settings, folders, names.
    """
    variables = os.environ if env is None else env
    where = Places(home=Path(home).expanduser().absolute()) if home is not None else places(variables)
    workspace = _workspace(directory, root, add_dirs, where)
    if permission and permission not in PERMISSIONS:
        raise UsageError("app.bad_permission", wanted=permission)
    if rules and rules not in RULES:
        raise UsageError("rules.bad_policy", wanted=rules)
    flags = Flags(
        model=model,
        permission=permission,
        language=language,
        max_steps=max_steps,
        max_cost=max_cost,
        max_minutes=max_minutes,
        max_tokens=max_tokens,
    )
    trusted = standing(where, workspace.root, trust=trust)
    loaded = load(
        where, project=workspace.root, project_trusted=trusted.trusted, env=variables, flags=flags, name=config,
        digest=trusted.findings.files.get(PROJECT_FILE.as_posix(), ""),
    )  # fmt: skip
    rules_given = rules_of(loaded.settings.permission, workspace.root)
    if rules_given.bars_paths:
        workspace.barred = rules_given.bars  # tools that look through folders leave out what no call may read
    allowed: Mode = "auto" if yes and not permission else loaded.settings.permission.mode
    app = App(
        Options(
            settings=loaded.settings,
            places=where,
            workspace=workspace,
            env=variables,
            language=_language(loaded, variables),
            mode=allowed,
            answers="no" if yes else answers,
            limits=_limits(loaded.settings.limits),
            notices=notices(trusted, loaded.notices),
            providers=providers or {},
            rules=rules,
            permissions=rules_given,
            trust=trusted,
            work_mode=mode,
        )
    )
    if mode and mode != NO_MODE:
        app.get_mode(mode)  # a name that is none is told at once
    return app


def _workspace(
    directory: str | Path | None, root: str | Path | None, add_dirs: Sequence[str | Path], where: Places
) -> Workspace:
    start = _folder("." if directory is None else directory)
    top = find_root(start) if root is None else _folder(root)
    return Workspace(top, start, tuple(_folder(d) for d in add_dirs), (where.home,))


def _folder(path: str | Path) -> Path:
    try:
        folder = Path(path).expanduser().absolute()
        if folder.is_dir():
            return folder
    except (OSError, ValueError, RuntimeError):  # the current folder was deleted, no path, no such home
        pass
    if str(path) in ("", "."):
        raise UsageError("app.directory_gone")
    raise UsageError("app.no_directory", path=str(path))


def _language(loaded: Loaded, env: Mapping[str, str]) -> Language:
    locale = env.get("LC_ALL") or env.get("LC_MESSAGES") or env.get("LANG") or ""
    return language_of(loaded.settings.language, locale)


def _limits(limits: Limits) -> LimitSpec:
    return LimitSpec(steps=limits.max_steps, cost=limits.max_cost, minutes=limits.max_minutes, tokens=limits.max_tokens)
