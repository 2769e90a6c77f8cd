"""docs/configuration.md, in both languages, from the types."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import msgspec.inspect as inspected

from gongfu.config import types
from gongfu.config.load import VARIABLES
from gongfu.config.patch import flow
from gongfu.core.words import Language, say

EXAMPLE: Final = """\
language: auto
models:
  main: [deepseek/deepseek-chat, ollama/qwen3]   # tried in order
  fast: [deepseek/deepseek-chat]
providers:
  deepseek: {api: openai_chat, base_url: https://api.deepseek.com/v1, api_key: ${DEEPSEEK_API_KEY}}
  ollama:   {api: openai_chat, base_url: http://127.0.0.1:11434/v1}
model_settings:
  deepseek/deepseek-chat: {max_output_tokens: 8192, temperature: 0.7}
permission: {mode: ask}
limits: {max_steps: 200, max_cost: 2.5}
"""


def render_configuration(language: Language) -> str:
    """The whole page as Markdown."""

    def words(name: str) -> str:
        return say(f"settings_page.{name}", language)

    parts = [words("title"), words("generated"), words("files_title"), words("files"), words("references")]
    parts += [words("example_title"), f"```yaml\n{EXAMPLE}```", words("changing_title"), words("changing")]
    parts += [words("settings_title"), *_sections(language), words("variables_title"), _variables(language)]
    return "\n\n".join(parts) + "\n"


def described() -> Iterator[tuple[str, str]]:
    """(dotted name, English description) of every setting and section; `NAME` stands for the name of an entry."""
    for name, kind, _, _ in _walk(types.settings_type(), ""):
        yield name, _about(kind)


def _sections(language: Language) -> Iterator[str]:
    rows: list[str] = []
    for name, kind, default, depth in _walk(types.settings_type(), ""):
        if depth == 0 and (
            isinstance(types.bare(kind), inspected.StructType | inspected.DictType) or types.entries(kind)
        ):
            if rows:
                yield "\n".join(rows)
            yield f"### `{name}`\n\n{say(f'settings.{name}', language)}"
            rows = [say("settings_page.table", language), "|---|---|---|---|"]
            continue
        if not rows:
            rows = [say("settings_page.table", language), "|---|---|---|---|"]
        value = types.wanted(kind).replace("|", "\\|")
        rows.append(f"| `{name}` | {value} | {_default(default)} | {say(f'settings.{name}', language)} |")
    yield "\n".join(rows)


def _walk(kind: inspected.StructType, before: str, depth: int = 0) -> Iterator[tuple[str, Any, Any, int]]:
    """(name, type, default, depth) of every field; tables of sections are walked with `NAME` for an entry."""
    for name, field in types.fields(kind).items():
        default: Any = field.default if field.default is not msgspec.NODEFAULT else {}
        yield f"{before}{name}", field.type, default, depth
        inner = types.bare(field.type)
        if isinstance(inner, inspected.StructType):
            yield from _walk(inner, f"{before}{name}.", depth + 1)
        elif entry := types.entries(inner):
            yield from _walk(entry[1], f"{before}{name}.{entry[0]}.", depth + 1)


def _about(kind: inspected.Type) -> str:
    bare = types.bare(kind)
    if isinstance(bare, inspected.StructType):
        return inspect.cleandoc(bare.cls.__doc__ or "")
    return types.description(kind)


def _default(value: Any) -> str:
    if isinstance(value, msgspec.Struct) or value in ("", (), {}):
        return ""
    return f"`{flow(value)}`"


def _variables(language: Language) -> str:
    rows = [say("settings_page.variables_table", language), "|---|---|"]
    rows += [f"| `{variable}` | `{'.'.join(map(str, path))}` |" for variable, path in VARIABLES.items()]
    rows.append(f"| `GONGFU_CONTEXT_WINDOW` | {say('settings_page.window', language)} |")
    rows.append(f"| `GONGFU_EMIT_TOOL_USE_SUMMARIES` | {say('settings_page.labels', language)} |")
    rows.append(f"| `GONGFU_HOME` | {say('settings_page.home', language)} |")
    return "\n".join(rows)
