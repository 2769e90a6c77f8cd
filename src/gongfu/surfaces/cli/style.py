"""The few colours of the command line, and text made safe to show."""

from __future__ import annotations

import re

from gongfu.core.base import Base

_CONTROL = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]"
_UNSEEN = (  # takes no room, or only room
    r"[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff]|(?:(?<=[\x00-\x7f])|^)[\u200c\u200d\ufe00-\ufe0f]|[\u200c\u200d](?=[\x00-\x7f]|$)"
)
_SEQUENCE = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])"


def clean(text: str) -> str:
    """`text` that cannot steer a terminal: escape sequences dropped, other control and direction marks made visible.

    Line feeds and tabs stay; CR LF becomes LF.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # most text is; the expressions are compiled when the first other one comes
    text = re.sub(_SEQUENCE, "", text.replace("\r\n", "\n"))
    return re.sub(_CONTROL, _shown, text)


def laid_open(text: str) -> str:
    """`text` with every character made visible that controls or is not seen, and nothing dropped: for what somebody is
    to consent to. Joiners and variants stay inside of what is no ASCII: emoji and some scripts are made of them.
    """
    text = text.replace("\r\n", "\n")
    if text.isascii():
        return re.sub(_CONTROL, _shown, text)
    return re.sub(f"{_CONTROL}|{_UNSEEN}", _shown, text)


def harmless(painted: str) -> str:
    """Painted text as it may reach a terminal: colours, line feeds and tabs are all that steers it; anything else that
    would is made visible. What is shown is made safe where it is put together; this holds where somebody forgot.
    """
    if painted.isascii() and painted.replace("\n", "").isprintable():
        return painted
    return re.sub(rf"\x1b\[[0-9;]*m|{_CONTROL}", _steering, painted)


def _steering(match: re.Match[str]) -> str:
    return match[0] if len(match[0]) > 1 else _shown(match)


def _shown(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, limit: int = 0) -> str:
    """The first line of `text`, made safe; cut to `limit` characters when that is given."""
    line = clean(text).strip().partition("\n")[0].replace("\t", " ")
    if "\n" in text.strip():
        line += " …"
    return line if not limit or len(line) <= limit else line[: limit - 1] + "…"


class Style(Base, frozen=True):
    """Colours text when `color` is on; otherwise gives it back as it is."""

    color: bool = False

    def dim(self, text: str) -> str:
        return self._sgr("2", text)

    def bold(self, text: str) -> str:
        return self._sgr("1", text)

    def red(self, text: str) -> str:
        return self._sgr("31", text)

    def green(self, text: str) -> str:
        return self._sgr("32", text)

    def yellow(self, text: str) -> str:
        return self._sgr("33", text)

    def cyan(self, text: str) -> str:
        return self._sgr("36", text)

    def sgr(self, code: str, text: str) -> str:
        """`text` in the graphic rendition of `code`, such as "94" or "30;46"."""
        return self._sgr(code, text)

    def _sgr(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text
