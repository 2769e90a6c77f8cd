"""What a model or a person writes when they mean a path, turned into a path. No file is touched here."""

from __future__ import annotations

import re

from gongfu.core.errors import ToolFailure

MAX_NAME = 255
MAX_PATH = 4096

_DRIVE = r"^/?([A-Za-z]):[\\/]"
_MSYS = r"^/(?:mnt/|cygdrive/)?([A-Za-z])(?:/|$)"
_URL = r"^([A-Za-z][A-Za-z0-9+.-]+)://"
_DEVICE = r"(?i)^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$"


def plain_path(text: str, *, windows: bool) -> str:
    """The path that `text` names: `file://` addresses decoded, foreign separators and drives translated.

    The result may be relative and may begin with `~`. ToolFailure for a text that can be no path on this platform.
    """
    if not text.strip():
        raise ToolFailure('the path is empty; give a path such as "src/main.py", or "." for the working directory')
    if "\0" in text:
        raise ToolFailure("the path has a NUL character in it; no file can be named so")
    path = _from_url(text)
    path = _on_windows(path) if windows else _on_posix(path)
    _check_length(path, windows=windows)
    return path


def _from_url(text: str) -> str:
    match = re.match(_URL, text)
    if match is None:
        return text
    if match[1].lower() != "file":
        raise ToolFailure(f"{text!r} is an address, not a path; this tool works on files of this machine")
    from urllib.parse import unquote  # only for the rare address

    rest = text[len("file://") :]
    if rest.lower().startswith("localhost/"):
        rest = rest[len("localhost") :]
    if not rest.startswith("/"):
        raise ToolFailure(f"{text!r} names a file of another machine; give a path of this one")
    path = unquote(rest)
    return path[1:] if re.match(_DRIVE, path) else path


def _on_windows(text: str) -> str:
    path = text
    msys = re.match(_MSYS, path)
    if msys is not None:
        path = f"{msys[1]}:/{path[msys.end() :]}"
    if path.startswith("\\\\?\\UNC\\"):
        path = "\\\\" + path[8:]
    elif path.startswith("\\\\?\\"):
        path = path[4:]
    for name in re.split(r"[\\/]", path[2:] if re.match(_DRIVE, path) else path):
        if re.fullmatch(_DEVICE, name.partition(".")[0].strip()):
            raise ToolFailure(f"{name!r} is a device of Windows and cannot be a file")
        if ":" in name:
            raise ToolFailure(f"{name!r} has a colon in it, which no file name of Windows may have")
    return path


def _on_posix(text: str) -> str:
    drive = re.match(_DRIVE, text)
    if drive is not None:
        raise ToolFailure(f"{text!r} is a path of Windows, and this machine has no drives; use a relative path")
    return text


def _check_length(path: str, *, windows: bool) -> None:
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH:
        raise ToolFailure(
            f"the path is longer than {MAX_PATH} bytes; no file can have it. Is it the content of a file?"
        )
    for name in re.split(r"[\\/]" if windows else "/", path):
        size = len(name) if windows else len(name.encode("utf-8", "surrogatepass"))
        if size > MAX_NAME:
            raise ToolFailure(f"the name {name[:40]!r}… is longer than {MAX_NAME} bytes; choose a shorter one")


def show_name(name: str) -> str:
    """`name` fit for a model or a screen: bytes that are no UTF-8, and control characters, as `\\xNN` or `\\n`."""
    if name.isascii() and name.isprintable():
        return name
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if "\x80" <= character <= "\xff":  # `\xNN` from 80 on is a byte that is no UTF-8
        return f"\\u{ord(character):04x}"
    return character.encode("unicode_escape").decode("ascii")


_ESCAPE = r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}|[nrt])"


def hidden_name(shown: str) -> str | None:
    """The name that `show_name` showed as `shown`, when it had to escape something; None when there is no escape."""
    if re.search(_ESCAPE, shown) is None:
        return None
    raw = re.sub(_ESCAPE, _unescape, shown).encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[str]) -> str:
    text = match[0]
    short = {"\\n": "\n", "\\r": "\r", "\\t": "\t"}.get(text)
    if short is not None:
        return short
    code = int(f"0x{text[2:]}", 0)
    if text[1] == "x" and code >= 0x80:
        return bytes([code]).decode("utf-8", "surrogateescape")
    return chr(code)
