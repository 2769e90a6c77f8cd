"""The words that tell a model what a tool does: from a Markdown file beside the code, or from a docstring."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from gongfu.core.base import Base

_HEADING = r"(?m)^## +(\S+) *$"
_PARAMETER = r"^- +`?([\w.]+)`? *: +(.+)$"
_ARGUMENTS = r"(?i)^(args|arguments|parameters) *:$"
_ARGUMENT = r"^ *(\w+)(?: *\([^)]*\))? *: *(.+)$"


class ToolText(Base, frozen=True):
    """What the model is told: of the tool, and of each parameter (`edits.old` is a field inside `edits`).

    `zh` is one line for people in Chinese, `words` are further words that the tool is found by, in both languages.
    """

    description: str
    parameters: dict[str, str] = {}
    zh: str = ""
    words: str = ""


def text_of(function: Callable[..., Any], name: str) -> ToolText:
    """The section `## name` of the Markdown file beside the function's module, else the function's docstring.

    TypeError when there is neither: a tool without words is a bug.
    """
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None)
    sections = read_texts(Path(file).with_suffix(".md")) if file else {}
    if name in sections:
        return sections[name]
    if not function.__doc__:
        raise TypeError(f"the tool {name!r} has neither a section in a Markdown file beside it nor a docstring")
    return from_docstring(function.__doc__)


@cache
def read_texts(file: Path) -> dict[str, ToolText]:
    """The sections of a Markdown file by tool name; {} when there is no such file.

    A section is `## name`, text, and one `- parameter: text` line for each parameter; longer lines go on, indented.
    `zh: text` is its line in Chinese, `words: text` what else it is found by; the model is not told them.
    """
    try:
        source = file.read_text(encoding="utf-8")
    except OSError:
        return {}
    pieces = re.split(_HEADING, source)
    return {name: from_markdown(body) for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def from_markdown(body: str) -> ToolText:
    """One section without its heading."""
    words: list[str] = []
    parameters: dict[str, str] = {}
    aside = {"zh": "", "words": ""}
    last = ""
    for line in body.strip().splitlines():
        name, colon, text = line.partition(": ")
        match = re.match(_PARAMETER, line)
        if colon and name in aside:
            aside[name] = text.strip()
        elif match is not None:
            last = match[1]
            parameters[last] = match[2].strip()
        elif last and line.startswith("  "):
            parameters[last] += " " + line.strip()
        elif line.strip():
            words.append(line.strip())
    return ToolText(description=" ".join(words), parameters=parameters, **aside)


def from_docstring(text: str) -> ToolText:
    """A docstring; parameters stand below a line `Args:`, one `name: text` each."""
    words: list[str] = []
    parameters: dict[str, str] = {}
    last, inside = "", False
    for line in text.strip().splitlines():
        if re.match(_ARGUMENTS, line.strip()):
            inside = True
            continue
        match = re.match(_ARGUMENT, line) if inside else None
        if match is not None:
            last = match[1]
            parameters[last] = match[2].strip()
        elif inside and last and line.strip():
            parameters[last] += " " + line.strip()
        elif not inside and line.strip():
            words.append(line.strip())
    return ToolText(description=" ".join(words), parameters=parameters)
