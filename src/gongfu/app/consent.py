"""Rules of the settings, and what else calls are judged by."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gongfu.config.settings import Permission
from gongfu.core.errors import UsageError
from gongfu.engine.consent import Consent
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


def consent_of(app: App) -> Consent:
    """What the sessions of `app` are judged by."""
    return Consent(
        rules=app.options.permissions,
        book=lambda: GrantBook(app.database),
        env=app.options.env,
    )
