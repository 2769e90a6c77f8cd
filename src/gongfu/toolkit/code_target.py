"""What a question about code is about: a place in a file, found by a line and a name, or a name alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.places import Places, explained, unasked
from gongfu.toolkit.spots import Spot, one_line
from gongfu.workspace.files import read_text_file
from gongfu.workspace.ignore import walk
from gongfu.workspace.root import Located, Workspace

MAX_SOURCE = 4 * 1024 * 1024
MAX_NAME = 500
_ENDS = r"\r\n|\n|\r"
_WORD = r"[\w$]+"
CODE = frozenset(
    [
        ".py",
        ".pyi",
        ".js",
        ".jsx",
        ".mjs",
        ".cjs",
        ".ts",
        ".tsx",
        ".mts",
        ".cts",
        ".go",
        ".rs",
        ".java",
        ".kt",
        ".kts",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".cxx",
        ".hh",
        ".hpp",
        ".hxx",
        ".cs",
        ".rb",
        ".php",
        ".swift",
        ".scala",
        ".lua",
        ".sh",
        ".bash",
        ".zig",
        ".dart",
        ".ex",
        ".exs",
        ".hs",
        ".ml",
        ".vue",
        ".svelte",
        ".m",
        ".mm",
        ".proto",
    ]
)
_DECLARING = (
    r"^(?P<lead>\s*(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|async|abstract|final"
    r"|unsafe|const|extern|inline|virtual|override|declare|open|data|sealed)\s+)*"
    r"(?:def|class|func|fun|fn|function\*?|interface|struct|enum|trait|type|typedef|mod|module|namespace|package|macro"
    r"|macro_rules!|record|union|object|var|let|val|const|static|#define)\s+(?:\([^)]*\)\s*)?)(?P<name>%s)\b"
)
_BARE = r"^(?P<lead>)(?P<name>%s)\s*(?::[^=\n]+)?=(?!=)"
_TYPED = r"^(?P<lead>\s*(?:[\w:<>,\[\]&*~]+[\s*&]+)+)(?P<name>%s)\s*\([^;]*$"
_NOT_TYPES = (
    r"^\s*(?:return|else|new|throw|await|yield|raise|case|goto|delete|in|not|and|or|if|while|for|elif|assert)\b"
)
_MOST_FILES = 20_000
_MOST_FOUND = 50


class Source(Base, frozen=True):
    """A file of code: its text, and its lines without their ends."""

    located: Located
    text: str
    lines: tuple[str, ...]

    @property
    def path(self) -> Path:
        return self.located.path


class Target(Base, frozen=True):
    """A place in a file: `line` from 1, `column` from 0 in characters, and the word there."""

    source: Source
    line: int
    column: int
    word: str = ""


def read_source(places: Places, path: str) -> Source:
    """The file of a call. ToolFailure when it is no text, too large, or not there."""
    located = places.again(path)
    if not located.path.exists():
        raise places.missing(located)
    if located.path.is_dir():
        raise ToolFailure(f"{located.shown} is a folder; path must be a file")
    with explained(located):
        text = read_text_file(located.path, MAX_SOURCE).text
    return Source(located=located, text=text, lines=tuple(re.split(_ENDS, text)))


def find_target(source: Source, name: str, line: int, column: int) -> Target:
    """The place that a call means. ToolFailure says where the name stands when it is not on that line."""
    _check_line(source, line)
    if name and line:
        return _on_line(source, name, line, column)
    if name:
        return _in_file(source, name)
    if not line:
        raise ToolFailure("give a line with the name of the symbol on it, or the name alone")
    return _at_column(source, line, column)


def _check_line(source: Source, line: int) -> None:
    if line < 0 or line > len(source.lines):
        raise ToolFailure(f"{source.located.shown} has {len(source.lines)} lines; there is no line {line}")


def _at_column(source: Source, line: int, column: int) -> Target:
    text = source.lines[line - 1]
    if column < 0 or column > len(text) + 1:
        raise ToolFailure(f"line {line} has {len(text)} characters; there is no column {column}: {one_line(text)}")
    words = list(re.finditer(_WORD, text))
    if column:
        at = next((w for w in words if w.start() <= column - 1 <= w.end()), None)
        return Target(source=source, line=line, column=column - 1, word=at[0] if at else "")
    if len(words) == 1:
        return Target(source=source, line=line, column=words[0].start(), word=words[0][0])
    raise ToolFailure(f"say which name on line {line} is meant: {one_line(text) or '(the line is empty)'}")


def _on_line(source: Source, name: str, line: int, column: int) -> Target:
    found = list(_occurrences(name, source.lines[line - 1]))
    if found:
        start = min(found, key=lambda at: abs(at - (column - 1))) if column else found[0]
        return _last_word(source, name, line, start)
    elsewhere = [n for n, text in enumerate(source.lines, 1) if name in text and _occurrences(name, text)]
    near = sorted(elsewhere, key=lambda n: abs(n - line))
    if near and abs(near[0] - line) <= 2 and (len(near) == 1 or abs(near[1] - line) > abs(near[0] - line)):
        return _on_line(source, name, near[0], 0)  # models count lines badly
    where = f"; it is on line {', '.join(map(str, sorted(near[:8])))}" if near else " nor anywhere in the file"
    text = one_line(source.lines[line - 1])
    raise ToolFailure(f"{one_line(name)} is not on line {line} of {source.located.shown} ({text}){where}")


def _in_file(source: Source, name: str) -> Target:
    last = _tail(name)
    for spot in declared_in(source, last):
        return Target(source=source, line=spot.line, column=spot.column - 1, word=last)
    for number, text in enumerate(source.lines, 1):
        if name in text:
            for start in _occurrences(name, text):
                return _last_word(source, name, number, start)
    raise ToolFailure(f"{source.located.shown} has no {one_line(name)} in it")


def _tail(name: str) -> str:
    return re.split(r"\.|::|->|#", name)[-1].strip("() ") or name


def _last_word(source: Source, name: str, line: int, start: int) -> Target:
    """A dotted name means its last part."""
    last = _tail(name)
    return Target(source=source, line=line, column=start + name.rindex(last), word=last)


def _occurrences(name: str, text: str) -> list[int]:
    """Where `name` stands in a line as a whole word; anywhere when it does so nowhere."""
    before = r"(?<![\w$])" if re.match(r"[\w$]", name) else ""
    after = r"(?![\w$])" if re.search(r"[\w$]$", name) else ""
    return [m.start() for m in re.finditer(before + re.escape(name) + after, text)]


def completed(source: Source, line: int, column: int, after: str) -> Target:
    """The place behind `after` on a line, at a column, or at the end of the line."""
    if not line:
        raise ToolFailure("line is missing: the line in which the code is completed")
    _check_line(source, line)
    text = source.lines[line - 1]
    if after:
        at = text.rfind(after)
        if at < 0:
            raise ToolFailure(f"{one_line(after)} is not on line {line}: {one_line(text) or '(the line is empty)'}")
        return Target(source=source, line=line, column=at + len(after))
    if column < 0 or column > len(text) + 1:
        raise ToolFailure(f"line {line} has {len(text)} characters; there is no column {column}: {one_line(text)}")
    return Target(source=source, line=line, column=column - 1 if column else len(text))


# --- by name ----------------------------------------------------------------------------------------------------------


def check_name(name: str) -> str:
    """A name without space around. ToolFailure for what can be none."""
    name = name.strip()
    if len(name) > MAX_NAME or any(c in name for c in "\0\n\r") or any("\ud800" <= c <= "\udfff" for c in name):
        raise ToolFailure("name must be one name, such as parse or app.models.User.save")
    return name


def declared_in(source: Source, name: str) -> list[Spot]:
    """Where a file seems to declare `name`: by the words around it, in any language."""
    if name not in source.text:
        return []
    patterns = [re.compile(p % re.escape(name)) for p in (_DECLARING, _BARE, _TYPED)]
    found: list[Spot] = []
    for number, text in enumerate(source.lines, 1):
        if name not in text or len(text) > 2000:
            continue
        for pattern in patterns:
            match = pattern.match(text)
            if match is None or (pattern is patterns[2] and re.match(_NOT_TYPES, text)):
                continue
            column = match.start("name") + 1
            found.append(
                Spot(path=str(source.path), line=number, column=column, source=text, name=name, signature=text.strip())
            )
            break
    return found


def named(
    workspace: Workspace,
    name: str,
    stop: Callable[[], bool],
    *,
    declared: bool,
    kinds: frozenset[str] = CODE,
) -> tuple[list[Spot], bool]:
    """Where files of the workspace declare `name`, or speak of it as a whole word; whether all were looked at.

    `kinds` are the suffixes of the files.
    """
    last = _tail(name)
    pattern = re.compile(rf"(?<![\w$]){re.escape(last)}(?![\w$])")
    raw = last.encode("utf-8", "replace")
    found: list[Spot] = []
    for count, path in enumerate(walk(workspace.root, workspace)):
        if stop() or count > _MOST_FILES or len(found) >= (_MOST_FOUND if declared else 2000):
            return found, False
        if path.suffix.lower() not in kinds or path.is_symlink() or not unasked(path, workspace):
            continue
        source = _quick(path, raw, workspace)
        if source is None:
            continue
        if declared:
            found += declared_in(source, last)
            continue
        for number, text in enumerate(source.lines, 1):
            found += (
                Spot(path=str(path), line=number, column=m.start() + 1, source=text, name=last)
                for m in pattern.finditer(text[:2000])
            )
    return found, True


def _quick(path: Path, raw: bytes, workspace: Workspace) -> Source | None:
    """A file that holds a name, None for another one and for what is no plain text."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE + 1)
    except OSError:
        return None
    if raw not in data or b"\0" in data or len(data) > MAX_SOURCE:
        return None
    text = data.decode("utf-8", "replace")
    located = Located(path=path, asked=path, inside=True, shown=workspace.show(path))
    return Source(located=located, text=text, lines=tuple(re.split(_ENDS, text)))
