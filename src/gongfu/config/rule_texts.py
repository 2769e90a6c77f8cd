"""How a permission rule is written, so that a wrong one is found in the file where it stands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from gongfu.config.document import KeyPath

WANTED: Final = "TOOL | TOOL(PATTERN) | path(GLOB) | read(GLOB) | write(GLOB) | host(NAME) | command(PATTERN)"
# A text: `re` compiles and keeps it when it is first needed, not at import.
_RULE = r"(?s)\s*([\w*?.-]+)\s*(?:\((.*)\))?\s*"
_WITH_PATTERN = frozenset(["path", "read", "write", "host", "command"])


def split_rule(text: str) -> tuple[str, str] | None:
    """The name of a rule and its pattern ("" for none); None for what is no rule."""
    found = re.fullmatch(_RULE, text)
    if found is None or (found[2] is not None and not found[2].strip()):
        return None
    name, pattern = found[1], (found[2] or "").strip()
    return None if name in _WITH_PATTERN and not pattern else (name, pattern)


def first_unfit(permission: Any) -> tuple[KeyPath, str] | None:
    """Where in the section `permission` of the settings (plain data of the right types) the first text stands that is
    no rule, and that text. One with a reference to the environment is not judged.
    """
    from gongfu.config.expand import has_reference  # every run reads this module, few have rules

    for which in ("allow", "ask", "deny"):
        for at, text in enumerate(cast("list[str]", permission.get(which) or ())):
            if not has_reference(text) and split_rule(text) is None:
                return ("permission", which, at), text
    return None
