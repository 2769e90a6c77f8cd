"""The tool clean_comments."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from gongfu.core.base import Base
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.git_run import strings
from gongfu.toolkit.places import explained
from gongfu.toolkit.python_changes import Agreed, Change, changed, diff_display_of, diff_text, paths_of, write_all
from gongfu.toolkit.python_project import Projects
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.files import MAX_TEXT, TextFile, read_text_file, with_spans
from gongfu.workspace.ignore import walk
from gongfu.workspace.protect import why_protected
from gongfu.workspace.root import Located

Kind = Literal["code", "trailing", "all"]
_MOST_FILES = 2000
_RUN = 60  # lines of comments that are tried as one piece of code
_KEEP = (
    r"(?i)#\s*(?:!|:|%%|type:|noqa|nosec|nosonar|pragma|pylint:|mypy:|pyright:|ruff:|flake8:|fmt:|isort:|yapf:|black:"
    r"|cython:|distutils:|region|endregion|spdx-|copyright|vim?:|-\*-|coding[:=]|ty:|pyre-|lint:|sourcery|/// )"
)
_LICENSE = r"(?i)copyright|licen[cs]e|spdx|all rights reserved"
_CODING = r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+"


class _Comment(Base, frozen=True):
    """A comment: characters `start` to `end` of the text; `own` when it has its line for itself."""

    line: int
    column: int
    start: int
    end: int
    text: str
    own: bool


class Comments:
    """See the module."""

    def __init__(self, projects: Projects) -> None:
        self._projects = projects
        self._workspace = projects.workspace
        self._agreed = Agreed()

    async def _facts(self, args: dict[str, Any]) -> Facts:
        given = self._projects.located(_given(args))
        dry = bool(args.get("dry_run"))
        paths = tuple(path for one in given for path in self._projects.places.paths(one, write=not dry))
        changes: list[Change] = []
        if not any(map(self._projects.places.consent, given)):  # else nothing is told before a person agrees
            changes = await anyio.to_thread.run_sync(self._plan, given, args["kind"], abandon_on_cancel=True)
            self._agreed.note((strings(args.get("paths")), args["kind"]), changes)
        return Facts(
            access=("read",) if dry else ("write",), paths=(*paths, *paths_of(changes)),
            writes=() if dry else paths_of(changes) or paths,
            title=" ".join([args["kind"], *(one.shown for one in given)]),
            preview=diff_display_of(changes) if changes else {},
        )  # fmt: skip

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        places = [self._workspace.locate(text) for text in strings(args.get("paths"))]
        return tuple(Claim(resource=str(one.path), write=not args.get("dry_run")) for one in places)

    @tool(access="write", facts=_facts, claims=_claims)
    async def clean_comments(self, paths: list[str], kind: Kind, dry_run: bool = False) -> Outcome:
        given = self._projects.located(_given({"paths": paths}), again=True)
        changes = await anyio.to_thread.run_sync(self._plan, given, kind, abandon_on_cancel=True)
        if not changes:
            return Outcome(text="There is nothing to remove.", display=text_display("", "nothing to remove"))
        if not dry_run:
            self._agreed.check((paths, kind), changes)
            await anyio.to_thread.run_sync(write_all, changes, self._workspace)
        display = diff_display_of(changes)
        what = "would change" if dry_run else "changed"
        head = f"{len(changes)} file{'s' * (len(changes) != 1)} {what}, +{display['added']} -{display['removed']}"
        return Outcome(text=f"{head}\n{diff_text(display)}", display=display)

    def _plan(self, given: Sequence[Located], kind: Kind) -> list[Change]:
        return changed(self._changes(given, kind))

    def _changes(self, given: Sequence[Located], kind: Kind) -> Iterator[Change]:
        for shown, path in self._files(given):
            with explained(self._workspace.locate(str(path))):
                before = read_text_file(path, MAX_TEXT)
            yield Change(shown=shown, before=before, after=cleaned(before, kind, shown))

    def _files(self, given: Sequence[Located]) -> list[tuple[str, Path]]:
        found: dict[Path, str] = {}
        for one in given:
            if one.path.is_dir():
                inside = [p for p in walk(one.path, self._workspace) if p.suffix in (".py", ".pyi")]
                plain = [p for p in inside if not p.is_symlink() and not why_protected(p, self._workspace)]
                found |= {p: self._workspace.show(p) for p in plain}
            elif one.path.suffix not in (".py", ".pyi"):
                raise ToolFailure(f"{one.shown} is no Python file; nothing was changed")
            else:
                found[one.path] = one.shown
        if len(found) > _MOST_FILES:
            raise ToolFailure(f"{len(found):,} files are too many at once ({_MOST_FILES:,}); name fewer folders")
        return [(shown, path) for path, shown in found.items()]


def _given(args: dict[str, Any]) -> list[str]:
    given = strings(args.get("paths"))
    if not given:
        raise ToolFailure("paths is empty; name the files or folders")
    return given


def cleaned(file: TextFile, kind: Kind, shown: str) -> TextFile:
    """The file without its comments of a kind. ToolFailure for one that is no Python of this version."""
    try:
        comments = list(_comments(file.text))
        tree = ast.dump(ast.parse(file.text, type_comments=False))
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError, MemoryError) as error:
        raise ToolFailure(f"{shown} is no valid Python: {error}; nothing was changed") from None
    removed = _removed(comments, kind, file.text)
    spans = [_span(file.text, comment) for comment in removed]
    after = with_spans(file, [(start, end, "") for start, end in spans]) if spans else file
    try:
        same = ast.dump(ast.parse(after.text)) == tree
    except (SyntaxError, ValueError):
        same = False
    if not same:
        raise ToolFailure(f"{shown} would mean something else without its comments; nothing was changed")
    return after


def _comments(text: str) -> Iterator[_Comment]:
    lines = list(io.StringIO(text, newline=""))
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(iter([*lines, ""]).__next__):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            start = starts[row - 1] + column
            own = not lines[row - 1][:column].strip()
            yield _Comment(
                line=row, column=column, start=start, end=start + len(token.string), text=token.string, own=own
            )


def _removed(comments: Sequence[_Comment], kind: Kind, text: str) -> list[_Comment]:
    header = _header(comments, text)
    free = [c for c in comments if not (c.line in header or _is_kept(c))]
    match kind:
        case "trailing":
            return [c for c in free if not c.own]
        case "all":
            return free
        case _:
            return [c for c in free if c.line in _code_lines([c for c in free if c.own])]


def _is_kept(comment: _Comment) -> bool:
    if comment.line <= 2 and (comment.text.startswith("#!") or re.match(_CODING, comment.text)):
        return True
    return re.match(_KEEP, comment.text) is not None or "noqa" in comment.text or "type: ignore" in comment.text


def _header(comments: Sequence[_Comment], text: str) -> set[int]:
    """The lines of the comments above all code, when they speak of a license."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")), 1 << 60)
    top = [c for c in comments if c.own and c.line < first]
    return {c.line for c in top} if any(re.search(_LICENSE, c.text) for c in top) else set()


def _code_lines(comments: Sequence[_Comment]) -> set[int]:
    """The lines of comments that are code which was commented out: whole pieces that Python can read."""
    found: set[int] = set()
    block: list[_Comment] = []
    for comment in [*comments, None]:
        if comment is not None and block and comment.line == block[-1].line + 1 and comment.column == block[-1].column:
            block.append(comment)
            continue
        found |= _code_in(block)
        block = [comment] if comment is not None else []
    return found


def _code_in(block: Sequence[_Comment]) -> set[int]:
    found: set[int] = set()
    at = 0
    while at < len(block):
        size = next((n for n in range(min(_RUN, len(block) - at), 0, -1) if _is_code(block[at : at + n])), 0)
        found |= {c.line for c in block[at : at + size]}
        at += size or 1
    return found


def _is_code(piece: Sequence[_Comment]) -> bool:
    lines = [c.text[1:] for c in piece]
    if all(not line.strip() or line.startswith(" ") for line in lines):
        lines = [line[1:] for line in lines]
    if not lines[0].strip() or not lines[-1].strip():
        return False
    source = "\n".join(lines)
    if len(piece) == 1 and source.rstrip().endswith(":"):
        return _opens_block(source.strip())
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(body) and all(map(_says_something, body)) and any(not _is_word(node) for node in body)


def _opens_block(line: str) -> bool:
    """Whether one line is the head of a compound statement, and not prose such as "if needed:"."""
    if re.fullmatch(r"(?:else|try|finally)\s*:", line):
        return True
    head = "try:\n pass\n" if line.startswith("except") else "if 1:\n pass\n" if line.startswith("elif") else ""
    try:
        node = ast.parse(f"{head}{line} pass").body[0]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    match node:
        case ast.If(orelse=[ast.If(test=test)]) | ast.If(test=test) | ast.While(test=test):
            return not isinstance(test, ast.Name | ast.UnaryOp)
        case ast.With():
            return any(isinstance(item.context_expr, ast.Call) for item in node.items)
        case _:
            return True


def _says_something(node: ast.stmt) -> bool:
    """Whether a statement is one that somebody would write, and not prose which happens to be Python."""
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        return isinstance(value, ast.Call | ast.Yield | ast.YieldFrom)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None
    return True


def _is_word(node: ast.stmt) -> bool:
    """One word that is also said in prose."""
    alone = isinstance(node, ast.Return) and node.value is None
    return (
        alone
        or isinstance(node, ast.Pass | ast.Break | ast.Continue)
        or (isinstance(node, ast.Raise) and node.exc is None)
    )


def _span(text: str, comment: _Comment) -> tuple[int, int]:
    """What goes with a comment: its whole line, or the white space between code and it."""
    start = comment.start
    while start > 0 and text[start - 1] in " \t\f":
        start -= 1
    if not comment.own:
        return start, comment.end
    end = comment.end
    if text[end : end + 2] == "\r\n":
        return start, end + 2
    if text[end : end + 1] in ("\n", "\r"):
        return start, end + 1
    return start, end
