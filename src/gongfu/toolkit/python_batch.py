"""The tool batch."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from gongfu.core.backtracking import longest_line
from gongfu.core.display import text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.files import check_text
from gongfu.toolkit.places import explained
from gongfu.toolkit.python_changes import Agreed, Change, changed, diff_display_of, diff_text, paths_of, write_all
from gongfu.toolkit.python_project import Projects
from gongfu.toolkit.python_style import Style
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import CallContext, Claim, Facts, Outcome
from gongfu.workspace.files import NotText, TextFile, read_bytes, read_text_file, with_spans
from gongfu.workspace.globs import path_regex
from gongfu.workspace.ignore import walk
from gongfu.workspace.protect import why_protected

Action = Literal["compile", "lint", "format", "count", "replace"]
_MOST_FILES = 5000
_AT_ONCE = 400  # files that one program is started with
_BYTES = 256 << 20
_EACH = 8 << 20
_TOLD = 100


class Batch:
    """See the module."""

    def __init__(self, projects: Projects, style: Style) -> None:
        self._projects = projects
        self._style = style
        self._workspace = projects.workspace
        self._agreed = Agreed()

    async def _facts(self, args: dict[str, Any]) -> Facts:
        action, dry = args["action"], bool(args.get("dry_run"))
        _check(args)
        files = await anyio.to_thread.run_sync(self._files, args["glob"], args.get("cwd") or "", abandon_on_cancel=True)
        title = f"{action} {args['glob']} ({len(files)} files)"
        if action in ("lint", "format"):
            facts = await self._styled(action, files, dry, args.get("cwd") or "")
            return Facts(access=("execute",), paths=facts.paths, writes=facts.writes, command=facts.command,
                         cwd=facts.cwd, title=title, preview=facts.preview)  # fmt: skip
        if action != "replace":
            return Facts(access=("read",), paths=(str(self._folder(args.get("cwd") or "")),), title=title)
        changes = await anyio.to_thread.run_sync(self._replaced, files, args, abandon_on_cancel=True)
        self._agreed.note(_call(args["glob"], args), changes)
        paths = paths_of(changes)
        return Facts(
            access=("read",) if dry else ("write",), paths=paths or (str(self._folder(args.get("cwd") or "")),),
            writes=() if dry else paths, title=title, preview=diff_display_of(changes) if changes else {},
        )  # fmt: skip

    async def _styled(self, action: str, files: Sequence[Path], dry: bool, cwd: str) -> Facts:
        tool, args = self._style_call(action, files, dry, cwd)
        return await tool.facts(args)

    def _style_call(self, action: str, files: Sequence[Path], dry: bool, cwd: str) -> tuple[Any, dict[str, Any]]:
        if len(files) > _AT_ONCE:
            raise ToolFailure(
                f"{len(files):,} files are too many for one program ({_AT_ONCE}); {action} a folder instead"
            )
        args: dict[str, Any] = {"paths": [str(path) for path in files], "cwd": cwd}
        return (self._style.lint, args) if action == "lint" else (self._style.format_code, {**args, "check": dry})

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        changes = args["action"] in ("lint", "format") or (args["action"] == "replace" and not args.get("dry_run"))
        return (Claim(resource=str(self._workspace.root), write=changes),)

    @tool(access=("read", "write", "execute"), facts=_facts, claims=_claims)
    async def batch(
        self,
        action: Action,
        glob: str,
        ctx: CallContext,
        *,
        find: str = "",
        replace: str = "",
        regex: bool = False,
        dry_run: bool = False,
        cwd: str = "",
    ) -> Outcome:
        args = {"action": action, "find": find, "replace": replace, "regex": regex}
        _check(args)
        files = await anyio.to_thread.run_sync(self._files, glob, cwd, True, abandon_on_cancel=True)
        if action in ("lint", "format"):
            tool, given = self._style_call(action, files, dry_run, cwd)
            return await tool.run(given, ctx)
        if action == "replace":
            return await self._replace(files, {**args, "glob": glob, "cwd": cwd}, dry_run)
        work: Callable[[Sequence[Path]], Outcome] = self._compile if action == "compile" else self._count
        return await anyio.to_thread.run_sync(work, files, abandon_on_cancel=True)

    # --- files ----------------------------------------------------------------------------------------------------

    def _folder(self, cwd: str, again: bool = False) -> Path:
        located = (self._projects.places.again if again else self._projects.places.judge)(cwd or ".")
        if not located.path.is_dir():
            raise ToolFailure(f"cwd {located.shown} is no folder")
        return located.path

    def _files(self, glob: str, cwd: str, again: bool = False) -> list[Path]:
        """The files that a glob means, in order; secrets, links and what git ignores are left out."""
        odd = "\0" in glob or len(glob) > 1000 or any("\ud800" <= c <= "\udfff" for c in glob)
        if odd or not glob.strip() or glob.startswith(("/", "~")) or ".." in Path(glob).parts:
            raise ToolFailure('glob must be a pattern below cwd, such as "src/**/*.py"')
        top = self._folder(cwd, again)
        pattern = path_regex(glob)
        found = [
            path
            for path in walk(top, self._workspace)
            if pattern.fullmatch(path.relative_to(top).as_posix())
            and not path.is_symlink()
            and not why_protected(path, self._workspace)
        ]
        if not found:
            raise ToolFailure(f"no file matches {glob} in {self._workspace.show(top)}")
        if len(found) > _MOST_FILES:
            raise ToolFailure(f"{glob} matches {len(found):,} files; at most {_MOST_FILES:,} at once")
        return found

    def _read(self, path: Path) -> TextFile | None:
        """A text file; None for anything else, and for one that is too large."""
        try:
            if path.stat().st_size > _EACH:
                return None
            with explained(self._workspace.locate(str(path))):
                return read_text_file(path, _EACH)
        except (NotText, OSError):
            return None

    # --- actions --------------------------------------------------------------------------------------------------

    def _compile(self, files: Sequence[Path]) -> Outcome:
        import ast  # not for the other actions
        import warnings

        wrong: list[str] = []
        python = [p for p in files if p.suffix in (".py", ".pyi")]
        if not python:
            raise ToolFailure("none of the files is Python; compile reads only Python")
        for path in python:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of the code that is read, not of ours
                    ast.parse(read_bytes(path.resolve(), _EACH)[0], filename=str(path))
            except SyntaxError as error:
                wrong.append(f"{self._workspace.show(path)}:{error.lineno or 1}:{error.offset or 1} {error.msg}")
            except (NotText, ValueError, OSError, RecursionError, MemoryError) as error:
                wrong.append(f"{self._workspace.show(path)}:1:1 {error}")
        head = f"{len(python) - len(wrong)} of {len(python)} files compile."
        text = "\n".join([head, *wrong[:_TOLD], *([f"… {len(wrong) - _TOLD} more"] * (len(wrong) > _TOLD))])
        return Outcome(text=text, display=text_display(text, head))

    def _count(self, files: Sequence[Path]) -> Outcome:
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        left_out = 0
        for path in files:
            file = self._read(path)
            if file is None:
                left_out += 1
                continue
            lines = [line.strip() for line in file.text.splitlines()]
            row = counts[path.suffix or path.name]
            blank = sum(not line for line in lines)
            comments = sum(line.startswith(("#", "//", "--", "/*", "*")) for line in lines)
            for at, number in enumerate((1, len(lines) - blank - comments, comments, blank)):
                row[at] += number
        rows = sorted(counts.items(), key=lambda item: -item[1][1])
        total = [sum(row[at] for _, row in rows) for at in range(4)]
        shown = [("kind", ["files", "code", "comments", "blank"]), *rows[:_TOLD], ("all", total)]
        lines = [f"{name:<12}" + "".join(f"{number!s:>10}" for number in row) for name, row in shown]
        lines += [f"[{left_out} files are no text or too large]"] * bool(left_out)
        text = "\n".join(lines)
        return Outcome(text=text, display=text_display(text, f"{total[1]:,} lines of code in {total[0]:,} files"))

    async def _replace(self, files: Sequence[Path], args: dict[str, Any], dry: bool) -> Outcome:
        changes = await anyio.to_thread.run_sync(self._replaced, files, args, abandon_on_cancel=True)
        if not changes:
            raise ToolFailure(f"find is in none of the {len(files)} files; nothing was changed")
        if not dry:
            self._agreed.check(_call(args["glob"], args), changes)
            await anyio.to_thread.run_sync(write_all, changes, self._workspace)
        display = diff_display_of(changes)
        what = "would change" if dry else "changed"
        head = f"{len(changes)} of {len(files)} files {what}, +{display['added']} -{display['removed']}"
        return Outcome(text=f"{head}\n{diff_text(display)}", display=display)

    def _replaced(self, files: Sequence[Path], args: dict[str, Any]) -> list[Change]:
        pattern = _pattern(args)
        replace: str = args.get("replace") or ""
        found: list[Change] = []
        room = _BYTES
        for path in files:
            before = self._read(path)
            if before is None:
                continue
            room -= len(before.raw)
            if room < 0:
                raise ToolFailure(f"the files are too large together (more than {_BYTES >> 20} MiB); narrow the glob")
            shown = self._workspace.show(path)
            found.append(Change(shown=shown, before=before, after=_with(before, pattern, replace, args, shown)))
        return changed(found)


def _call(glob: str, args: dict[str, Any]) -> tuple[object, ...]:
    return (glob, *(args.get(name) or "" for name in ("cwd", "find", "replace", "regex")))


def _check(args: dict[str, Any]) -> None:
    if args["action"] == "replace":
        if not args.get("find"):
            raise ToolFailure("replace needs find, the text to replace")
        check_text(args.get("replace") or "", "replace")
        _pattern(args)


def _pattern(args: dict[str, Any]) -> re.Pattern[str]:
    """What is searched for. ToolFailure for a bad expression, and for one that may take for ever."""
    find: str = args["find"]
    if not args.get("regex"):
        return re.compile(re.escape(find))
    try:
        pattern = re.compile(find, re.MULTILINE)
    except (re.error, RecursionError, OverflowError) as error:
        raise ToolFailure(f"find is no valid regular expression: {error}") from None
    if not longest_line(find):
        raise ToolFailure("find repeats what repeats, which may take for ever; write it without nested repeats")
    if pattern.match("") is not None:
        raise ToolFailure("find matches the empty text; it would change every place")
    return pattern


def _with(file: TextFile, pattern: re.Pattern[str], replace: str, args: dict[str, Any], shown: str) -> TextFile:
    if args.get("regex") and (longest := max(map(len, file.text.splitlines()), default=0)) > longest_line(args["find"]):
        raise ToolFailure(f"{shown} has a line of {longest:,} characters, too long for this expression; leave it out")
    spans: list[tuple[int, int, str]] = []
    for match in pattern.finditer(file.text):
        try:
            new = match.expand(replace) if args.get("regex") else replace
        except (re.error, IndexError) as error:
            raise ToolFailure(f"replace: {error}; nothing was changed") from None
        if match.end() > match.start() or new:
            spans.append((match.start(), match.end(), new))
    return with_spans(file, spans) if spans else file
