"""Words without a command: are they a task, or a command that was mistyped?"""

from __future__ import annotations

from collections.abc import Sequence

from gongfu.surfaces.cli.command import no_command

COMMANDS = {
    "run": "run",
    "sessions": "sessions",
    "show": "show",
    "export": "export",
    "context": "context",
    "compact": "compact",
    "undo": "undo",
    "redo": "redo",
    "rewind": "rewind",
    "checkpoints": "checkpoints",
    "rules": "rules",
    "trust": "trust",
    "permissions": "permissions",
    "tools": "tools",
    "modes": "modes",
    "commands": "commands",
    "mcp": "mcp",
    "config": "config",
    "models": "models",
    "init": "init",
    "doctor": "doctor",
    "demo": "demo",
    "completion": "completion",
}


def check_bare(words: Sequence[str]) -> None:
    """Raise UsageError when the words look like a mistyped command and not like a task.

    One word is no task unless it is a phrase in a script without spaces; several are none when the first is nearly a
    command.
    """
    from difflib import get_close_matches

    names = list(COMMANDS)
    if words and words[0].startswith("/"):  # a command for the model
        return
    if len(words) == 1 and not _phrase(words[0]):
        raise no_command(words[0], names, "gongfu")
    if len(words) > 1 and get_close_matches(words[0].lower(), names, n=1, cutoff=0.8):
        raise no_command(words[0], names, "gongfu")


def _phrase(word: str) -> bool:
    """Whether an argument holds more than a word: spaces, or four and more characters of a script without them."""
    unspaced = sum("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in word)
    return len(word.split()) > 1 or unspaced > 3
