"""A rendered page as an outline for the model: what can be seen, and the number of what can be used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_LINE = r"( *)- (.*)"
_ROLE = r"([a-z]+)(?: (\"(?:[^\"\\]|\\.)*\"|/(?:[^/\\]|\\.)*/))?((?: \[[^\]]*\])*)(:?)(?: (.*))?"
_WRAPPERS = re.findall(
    r"\w+",
    "generic group rowgroup list paragraph document none presentation main region banner contentinfo strong emphasis "
    "navigation article",
)
_USED = re.findall(
    r"\w+",
    "link button textbox searchbox checkbox radio combobox listbox option slider spinbutton switch tab menuitem "
    "menuitemcheckbox menuitemradio treeitem iframe",
)
_INLINE = r"(?:text|code)(?: \[[^\]]*\])*: "
_CELLS = ("cell", "gridcell", "columnheader", "rowheader")


def outline(snapshot: str) -> str:
    """The page as lines, from the library's tree of roles: wrappers are left out, numbers (`[e7]`) stand at what can
    be clicked or filled in, the address of a link behind it."""
    lines: list[str] = []
    new_row = True
    dropped: list[int] = []  # the depths of wrappers that are left out
    running = -1  # the depth of the words that the last line ends with, which words beside them go on
    for raw in snapshot.splitlines():
        found = re.fullmatch(_LINE, raw)
        if found is None:
            continue
        depth, rest = len(found[1]) // 2, _unpacked(found[2])
        while dropped and dropped[-1] >= depth:
            dropped.pop()
        words = re.match(_INLINE, rest) is not None
        goes_on, running = words and depth == running, depth if words else -1
        if rest.startswith("/url: ") and lines:
            lines[-1] += f" -> {rest[6:]}"
            continue
        if rest.startswith("/"):
            continue
        shown = "  " * (depth - len(dropped))
        text = _told(rest)
        new_row = new_row or rest.startswith("row")
        if (goes_on or (text.startswith("| ") and not new_row)) and lines:
            lines[-1] += f" {text}"
        elif text:
            new_row = False
            lines.append(shown + text)
        else:
            dropped.append(depth)
    return "\n".join(lines)


def _told(rest: str) -> str:
    """One line; "" for a wrapper without words of its own."""
    found = re.fullmatch(_ROLE, rest)
    if found is None:
        return rest
    role, name, marks, _, text = found.groups()
    text = _unquoted(text)
    if role in ("text", "code") and text and not name:
        return text if role == "text" else f"`{text}`"
    if role in _CELLS:
        return f"| {_unquoted(name) or text}" if name or text else ""
    if role == "row":
        return ""
    if role == "listitem":
        return f"- {_unquoted(name) or text}" if name or text else ""
    if role == "heading":
        level = re.search(r"\[level=(\d)\]", marks)
        return f"{'#' * int(level[1] if level else 2)} {_unquoted(name) or text}"
    known = re.findall(r"\[([^\]]*)\]", marks)
    number = next((mark[4:] for mark in known if mark.startswith("ref=")), "")
    pressed = "cursor=pointer" in known
    state = [m for m in known if not m.startswith(("ref=", "cursor=", "active"))]
    used = role in _USED or (pressed and role in _WRAPPERS)
    if role in _WRAPPERS and not used:
        return " ".join(filter(None, [_unquoted(name), text]))
    words = ["click" if role in _WRAPPERS else role, name or "", f"[{number}]" if used and number else ""]
    words += [f"({mark})" for mark in state] + ([f": {text}"] if text else [])
    return " ".join(filter(None, words)).replace(" : ", ": ")


def _unpacked(rest: str) -> str:
    """A line without the quotation marks that it stands in when it holds signs of YAML."""
    found = re.fullmatch(r"'((?:[^']|'')*)'(.*)", rest)
    return found[1].replace("''", "'") + found[2] if found else rest


def _unquoted(name: str | None) -> str:
    """A name without its quotation marks and escapes."""
    if not name or not name.startswith('"'):
        return name or ""
    try:
        return str(json.loads(name))
    except ValueError:
        return name.strip('"')


def without(text: str, passwords: Iterable[str]) -> str:
    """An outline in which what stands in password fields is not told, only that it does."""
    for password in {" ".join(one.split()) for one in passwords} - {""}:
        for end in {password, json.dumps(password), json.dumps(password, ensure_ascii=False)}:
            text = re.sub(
                rf"(?m)^( *(?:textbox|searchbox)\b.*): {re.escape(end)}$", r"\1: (filled in, not shown)", text
            )
    return text


def news(before: str, after: str) -> str:
    """The lines of an outline that were not in the one before."""
    old = {line.strip() for line in before.splitlines()}
    return "\n".join(line.strip() for line in after.splitlines() if line.strip() not in old)
