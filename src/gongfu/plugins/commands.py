"""Commands from files: a prompt with arguments that is started with a slash and its name."""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ConfigError, UsageError
from gongfu.permissions.rules import parse_rule
from gongfu.plugins.folders import Folders, Found, Source, parsed
from gongfu.plugins.template import BadTemplateError, Given, Template, name_words, words_of

KIND: Final = "commands"
SLASH: Final = re.compile(r"/([A-Za-z][\w:-]*)(?=\s|$)")
_CLAUDE: Final = {
    "Bash": "shell", "Read": "read_file", "Write": "write_file", "Edit": "edit_file", "MultiEdit": "edit_file",
    "Grep": "search_text", "Glob": "find_files", "LS": "list_files", "Task": "task", "TodoWrite": "todo",
    "WebFetch": "web_fetch", "WebSearch": "web_search", "AskUserQuestion": "ask_user",
}  # fmt: skip

Texts: TypeAlias = tuple[str, ...] | str


class Argument(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One named argument. Without a `default` it must be given."""

    name: str
    description: str = ""
    default: str | None = None


class Command(Base, frozen=True):
    """A command: what it tells the model, and what holds for its turn. `tools` are rules (see `core.modes.Bounds`)."""

    name: str
    description: str = ""
    zh: str = ""
    arguments: tuple[Argument, ...] = ()
    hint: str = ""
    mode: str = ""
    model: str = ""
    tools: tuple[str, ...] = ()
    body: str = ""
    source: Source = "built-in"

    @property
    def usage(self) -> str:
        """How it is typed."""
        words = [f"<{a.name}>" if a.default is None else f"[{a.name}]" for a in self.arguments]
        return " ".join([f"/{self.name}", *(words or ([self.hint] if self.hint else []))])

    def template(self) -> Template:
        """Its text, read."""
        return Template(self.body)

    def given(self, text: str) -> Given:
        """The arguments in what was typed behind its name. UsageError when one is missing."""
        words = words_of(text)
        if any("\0" in word for word in words):
            raise UsageError("modes.argument_nul", usage=self.usage)
        named = name_words([a.name for a in self.arguments], words)
        for argument in self.arguments:
            if argument.name not in named:
                if argument.default is None:
                    raise UsageError("modes.argument_missing", name=argument.name, usage=self.usage)
                named[argument.name] = argument.default
        return Given(words=words, text=text.strip(), named=named)


class _Front(msgspec.Struct, forbid_unknown_fields=True):
    description: str = ""
    zh: str = ""
    arguments: tuple[str | Argument, ...] | str = ()
    argument_hint: str = ""
    mode: str = ""
    model: str = ""
    allowed_tools: Texts = ()


class CommandFiles:
    """The commands of all folders. Files are read when they are asked for."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders

    def found(self) -> dict[str, Found]:
        """The file in force of each command, by name."""
        return {name: files[-1] for name, files in self._folders.find(KIND).items()}

    def all(self) -> tuple[Command, ...]:
        """All commands. ConfigError for the first file that is wrong."""
        return tuple(self._read(file) for file in self.found().values())

    def get(self, name: str) -> Command:
        """The command of that name. UsageError, with the nearest, when there is none; ConfigError for a bad file."""
        found = self.found()
        file = found.get(name.lower())
        if file is None:
            from difflib import get_close_matches  # only for the rare mistake

            near = get_close_matches(name.lower(), found, n=1, cutoff=0.4)
            raise UsageError(
                "modes.no_command", name=name, near=f"/{near[0]}" if near else ", ".join(f"/{n}" for n in found)
            )
        return self._read(file)

    def _read(self, file: Found) -> Command:
        return read_command(self._folders.read(file), file)


def read_command(text: str, found: Found) -> Command:
    """A command from the text of its file. ConfigError for what does not fit."""
    front, body = parsed(text, _Front, str(found.path))
    tools = tuple(map(_ours, _listed(front.allowed_tools)))
    try:
        Template(body)
        for rule in tools:
            parse_rule(rule)
    except BadTemplateError as error:
        raise ConfigError("modes.bad_front", file=found.path, reason=error) from error
    except ValueError as error:
        raise ConfigError("modes.bad_front", file=found.path, reason=f"{error} is no tool") from error
    given: Any = front.arguments
    hint = given if isinstance(given, str) else front.argument_hint
    arguments = () if isinstance(given, str) else tuple(a if isinstance(a, Argument) else Argument(a) for a in given)
    return Command(
        name=found.name,
        description=front.description or next((line.strip("# ") for line in body.splitlines() if line.strip()), ""),
        zh=front.zh,
        arguments=arguments,
        hint=hint,
        mode=front.mode,
        model=front.model,
        tools=tools,
        body=body,
        source=found.source,
    )


def _listed(texts: Texts) -> list[str]:
    """A list, or a text with commas that do not stand in brackets."""
    if not isinstance(texts, str):
        return list(texts)
    return [part.strip() for part in re.split(r",(?![^(]*\))", texts) if part.strip()]


def _ours(rule: str) -> str:
    name, bracket, rest = rule.partition("(")
    return f"{_CLAUDE.get(name, name)}{bracket}{rest.replace(':*)', ' *)')}"


def is_command(text: str) -> str:
    """The name of the command that a text starts with; "" when it starts with none. `/a/path` is none."""
    match = SLASH.match(text.lstrip())
    return match[1] if match else ""


def with_arguments(template: Template, given: Given) -> str:
    """What was typed and has no place in the text: it is told behind it."""
    return f"\n\nArguments: {given.text}" if given.text and not template.takes_arguments else ""
