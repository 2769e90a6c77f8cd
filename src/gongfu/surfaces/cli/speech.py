"""The person's language: which it is, and sentences in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gongfu.core.base import Base
from gongfu.core.words import Language, language_of, say


class Speech(Base, frozen=True):
    """Says sentences of the catalogue. A key without an area is one of the command line's own ("cli.…")."""

    language: Language = "en"

    def __call__(self, key: str, **values: object) -> str:
        return say(key if "." in key else f"cli.{key}", self.language, **values)

    def told(self, key: str, values: Mapping[str, Any]) -> str:
        """A sentence that an event names; what this version does not know is shown as it came.

        A value `x` with a value `x_key` beside it is a sentence itself.
        """
        try:
            told = {name[:-4]: self(str(one), **values) for name, one in values.items() if name.endswith("_key")}
            values = {**values, **told}
            return self(key, **values)
        except (KeyError, IndexError, ImportError, ValueError):
            return f"{key} {dict(values)}" if values else key


def locale_of(env: Mapping[str, str]) -> str:
    """The locale for messages, such as "zh_CN.UTF-8", as the usual variables give it."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if env.get(name):
            return env[name]
    return _windows_locale()


def _windows_locale() -> str:
    import sys

    if sys.platform != "win32":
        return ""
    import ctypes  # only there: Windows sets no such variable

    return "zh" if ctypes.windll.kernel32.GetUserDefaultUILanguage() & 0x3FF == 4 else "en"


def wanted_language(args: Sequence[str]) -> Literal["", "en", "zh"]:
    """The value of `--lang` among the arguments, or "" when there is none that makes sense."""
    for index, arg in enumerate(args):
        if arg == "--":
            break
        value = args[index + 1] if arg == "--lang" and index + 1 < len(args) else arg.removeprefix("--lang=")
        if value in ("en", "zh") and arg.startswith("--lang"):
            return value
    return ""


def speech_of(args: Sequence[str], env: Mapping[str, str]) -> Speech:
    """The language before the settings are read: `--lang`, GONGFU_LANGUAGE, the user's file, else the locale."""
    wanted = wanted_language(args) or env.get("GONGFU_LANGUAGE", "") or _noted_language(env)
    return Speech(language=language_of(wanted, locale_of(env)))


def _noted_language(env: Mapping[str, str]) -> str:
    """The `language` of the user's settings by a look at the text, since help must work with settings that do not."""
    from gongfu.config.paths import places
    from gongfu.core.errors import UserError

    try:
        text = places(env).config.read_bytes()
    except (OSError, UserError):
        return ""
    import re

    found = re.search(rb"""^language:\s*["']?(en|zh)\b""", text, re.MULTILINE)
    return found[1].decode() if found else ""
