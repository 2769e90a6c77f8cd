"""What judging needs besides the call: rules, what the sandbox makes harmless, and where lasting grants are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gongfu.core.base import Base
from gongfu.permissions.grants import Book
from gongfu.permissions.policy import no_cover
from gongfu.permissions.rules import Rules


class Consent(Base, frozen=True):
    """Handed over by the composition root. `env` is the environment that commands start with, `book` opens what keeps
    grants for projects, `covers` tells which ratings the sandbox makes harmless (asked only when that matters)."""

    rules: Rules = Rules()
    covers: Callable[[], frozenset[str]] = no_cover
    book: Callable[[], Book] | None = None
    env: Mapping[str, str] = {}
