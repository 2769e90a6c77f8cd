"""The reference of the tools as Markdown, made from the tools themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from gongfu.app import open as open_app
from gongfu.context.ledger import tool_tokens
from gongfu.core.words import Language, say
from gongfu.surfaces.cli.opening import run_async
from gongfu.surfaces.cli.tools import first_sentence
from gongfu.tools.needs import named

if TYPE_CHECKING:
    from gongfu.app.inventory import Entry

_EXAMPLES = """```sh
gongfu tools list
gongfu tools list rename a file
gongfu tools show git_log
gongfu tools run file_info path=README.md
gongfu tools doctor
```"""


def render_tools(language: Language) -> str:
    """Every tool of a fresh installation, family by family, in `language`."""
    entries = run_async(_fresh)
    core = [entry.spec for entry in entries if entry.core]
    parts = [
        f"# {say('tools.reference_title', language)}",
        say("tools.reference_intro", language, count=len(entries), core=len(core), tokens=f"{tool_tokens(core):,}"),
        say("tools.reference_try", language),
        _EXAMPLES,
        say("tools.reference_page", language),
    ]
    for family in dict.fromkeys(entry.family for entry in entries):
        parts.append(f"## {say(f'tools.family_{family}', language)}")
        parts.append("\n".join(_table(language, [e for e in entries if e.family == family])))
    return "\n\n".join(parts) + "\n"


async def _fresh() -> list[Entry]:
    from gongfu.app.inventory import inventory

    with tempfile.TemporaryDirectory() as folder:
        async with open_app(folder, home=f"{folder}/home", env={}, root=folder) as app:
            return await inventory(app)


def _table(language: Language, entries: list[Entry]) -> Iterator[str]:
    names = ("tool", "does", "parameters", "needs")
    yield "| " + " | ".join(say(f"tools.column_{name}", language) for name in names) + " |"
    yield "|---" * len(names) + "|"
    for entry in entries:
        spec = entry.spec
        does = spec.zh if language == "zh" and spec.zh else first_sentence(spec.description)
        required = cast("list[str]", spec.parameters.get("required", []))
        known = cast("dict[str, Any]", spec.parameters.get("properties", {}))
        parameters = ", ".join(f"**{name}**" if name in required else name for name in known)
        needs = ", ".join(dict.fromkeys(named(need) for need in spec.needs))
        mark = " ●" if entry.core else ""
        yield "| " + " | ".join(map(_cell, (f"`{entry.name}`{mark}", does, parameters, needs))) + " |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
