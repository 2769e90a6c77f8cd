"""Rules of the settings, and what else calls are judged by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.config.settings import Permission
from gongfu.core.base import Base
from gongfu.core.errors import UsageError
from gongfu.engine.consent import Consent
from gongfu.permissions.policy import Decision, Mode, decide
from gongfu.permissions.rating import Line
from gongfu.permissions.rules import Rule, Rules, parse_rule
from gongfu.store.grants import GrantBook

if TYPE_CHECKING:
    from gongfu.app.app import App


def rules_of(settings: Permission, root: Path) -> Rules:
    """The rules that the settings hold. UsageError for one that is none."""
    return Rules(
        allow=_parsed("permission.allow", settings.allow),
        ask=_parsed("permission.ask", settings.ask),
        deny=_parsed("permission.deny", settings.deny),
        root=str(root),
    )


def _parsed(name: str, texts: tuple[str, ...]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for text in texts:
        try:
            rules.append(parse_rule(text))
        except ValueError:
            raise UsageError("permissions.bad_rule", name=name, rule=repr(text)) from None
    return tuple(rules)


class Checked(Base, frozen=True):
    """How a command line is judged: its parts with their ratings, and the decision of every mode."""

    line: Line
    decisions: dict[Mode, Decision]


def check_command(app: App, command: str) -> Checked:
    """Judge a command line as a call of the shell would be, without running or granting anything."""
    from gongfu.engine.judge import judged  # no turn comes here
    from gongfu.tools.protocol import Facts

    consent = consent_of(app)
    facts = Facts(access=("execute",), command=command, cwd=str(app.workspace.directory))
    seen = judged("shell", facts, app.workspace, env=consent.env, name=consent.rules.name_paths)
    modes: tuple[Mode, ...] = ("plan", "ask", "edits", "auto", "full")
    decisions: dict[Mode, Decision] = {}
    for mode in modes:
        decisions[mode] = decide(seen, mode, consent.rules, covers=consent.covers)
    return Checked(line=seen.line or Line(parts=()), decisions=decisions)


def consent_of(app: App) -> Consent:
    """What the sessions of `app` are judged by."""
    return Consent(
        rules=app.options.permissions,
        covers=lambda: app.sandbox.covers,
        book=lambda: GrantBook(app.database),
        env=app.options.env,
    )
