"""Python code as jedi understands it, asked in a process of its own: it may think for long, and it can be stopped.

Nothing of a project is executed: the process is Gongfu's own interpreter, the project's environment is only read, and
compiled modules are loaded only when they belong to the standard library. Nothing is kept between two questions.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.spots import Candidate, Spot
from gongfu.workspace.process import run
from gongfu.workspace.protect import might_be_secret

Question: TypeAlias = Literal["definition", "references", "hover", "completion", "find", "errors"]
SECONDS = 30.0
_KEEP = 8 * 1024 * 1024
_MEMORY = 3 * 1024**3
_MOST = 2000  # places that are sent back
_MOST_CANDIDATES = 200
_FILES = 20_000  # files that are looked into for a name
_PARSED = 800
_LARGEST = 4 * 1024 * 1024


class Order(Base, frozen=True):
    """A question about `text`, the file `path`: at `line` (from 1) and `column` (from 0), or about the dotted `name`.

    "errors" is about the syntax of `files`. `sources` are folders that modules are imported from, `packages` those of
    the project's environment.
    """

    do: Question
    root: str
    sources: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    path: str = ""
    text: str = ""
    line: int = 0
    column: int = 0
    name: str = ""
    files: tuple[str, ...] = ()
    seconds: float = SECONDS


class Reply(Base, frozen=True):
    """`partial`: the time was up before all was looked at. `problem` says why there is no answer."""

    spots: tuple[Spot, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    calls: tuple[str, ...] = ()
    partial: bool = False
    problem: str = ""


async def ask_jedi(order: Order, env: Mapping[str, str]) -> Reply:
    """The answer. ToolFailure when there is none in time."""
    child = {name: value for name, value in env.items() if not name.startswith("PYTHON")}
    # -P: nothing is imported from the folder that is asked about; -B: nothing is written beside what is imported
    argv = [sys.executable, "-P", "-B", "-m", "gongfu.toolkit.code_apart"]
    done = await run(
        argv, cwd=Path(__file__).parent, env=child, timeout=order.seconds + 5, keep=_KEEP,
        stdin=msgspec.json.encode(order),
    )  # fmt: skip
    try:
        return msgspec.json.decode(done.output.rpartition(b"\0")[2], type=Reply)
    except msgspec.DecodeError:
        pass
    if done.why_ended != "exit":
        raise ToolFailure(f"jedi found no answer in {order.seconds:.0f} s and was stopped; search_text finds names")
    last = done.output.decode("utf-8", "replace").strip().splitlines()[-1:]
    raise ToolFailure(f"jedi ended without an answer ({' '.join(last)[:200] or done.code}); search_text finds names")


# --- the process ------------------------------------------------------------------------------------------------------


def main() -> None:
    """The process: reads an `Order`, writes a `Reply` after a NUL."""
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    _bound(order.seconds)
    sys.setrecursionlimit(3000)
    try:
        reply = Reply(spots=tuple(_errors(order.files))) if order.do == "errors" else _Asked(order).answer()
    except (RecursionError, MemoryError) as error:
        reply = Reply(problem=f"the code is too deep for jedi ({type(error).__name__})")
    sys.stdout.buffer.write(b"\0" + msgspec.json.encode(reply))
    sys.stdout.buffer.flush()
    os._exit(0)  # what jedi holds need not be taken apart


def _bound(seconds: float) -> None:
    if sys.platform == "win32":
        return
    import resource

    for what, most in ((resource.RLIMIT_CPU, int(seconds) + 5), (resource.RLIMIT_AS, _MEMORY)):
        hard = resource.getrlimit(what)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(what, (most, hard))


class _Asked:
    """One question to jedi."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._until = time.monotonic() + order.seconds
        self._partial = False
        jedi = _jedi()
        self._may_read = _only_below((order.root, *order.sources, *order.packages, *_standard()))
        self._environment = import_module("jedi.api.environment").InterpreterEnvironment()
        self._bound_references()
        self._project: Any = jedi.Project(
            order.root, sys_path=[*order.packages, *_standard()], added_sys_path=list(order.sources)
        )
        self._jedi = jedi
        self._lines: dict[str, list[str]] = {}

    def answer(self) -> Reply:
        order = self._order
        if order.do == "find":
            return Reply(spots=tuple(self._spots(self._find(order.name))))
        script = self._script(order.text, order.path)
        at = (order.line, order.column)
        match order.do:
            case "definition":
                names = script.goto(*at, follow_imports=True, follow_builtin_imports=True) or script.infer(*at)
                return Reply(spots=tuple(self._spots(names)))
            case "hover":
                return Reply(spots=tuple(self._spots(script.help(*at), docs=True)))
            case "references":
                names = script.get_references(*at, include_builtins=False)
                return Reply(spots=tuple(self._spots(names)), partial=self._partial)
            case "completion":
                found = [_candidate(c) for c in script.complete(*at)[:_MOST_CANDIDATES]]
                calls = [str(s.to_string()) for s in script.get_signatures(*at)]
                return Reply(candidates=tuple(found), calls=tuple(calls[:3]))
            case _:
                return Reply()

    def _script(self, text: str, path: str) -> Any:
        return self._jedi.Script(text, path=path or None, project=self._project, environment=self._environment)

    def _find(self, name: str) -> list[Any]:
        """What the dotted `name` is, its longest beginning that is a module taken for one."""
        parts = name.split(".")
        beside = str(Path(self._order.root) / "_.py")
        for cut in range(len(parts) - 1, 0, -1):
            module, first, rest = ".".join(parts[:cut]), parts[cut], parts[cut + 1 :]
            text = f"from {module} import {first} as _\n_{''.join(f'.{part}' for part in rest)}"
            found = self._script(text, beside).goto(2, len(text.splitlines()[1]), follow_imports=True)
            found = [n for n in found if n.module_path is not None and str(n.module_path) != beside]
            if found:
                return found
        text = f"import {name} as _\n_"
        found = self._script(text, beside).goto(2, 1, follow_imports=True)
        return [n for n in found if n.module_path is not None and str(n.module_path) != beside]

    def _bound_references(self) -> None:
        bounded: Any = import_module("jedi.inference.references")
        bounded._PARSED_FILE_LIMIT, bounded._OPENED_FILE_LIMIT = _PARSED, _FILES
        look = bounded._check_fs

        def readable(*args: Any) -> Any:
            try:
                return look(*args)
            except OSError:  # of a folder called x.py, of a file that may not be read
                return None

        def in_time(state: Any, contexts: Any, name: str, limit_reduction: int = 1) -> Iterator[Any]:
            """As in jedi, which does not look for names of one or two characters: they are words in Chinese."""
            yield from (context for context in contexts if not context.is_compiled())
            files = bounded._find_project_modules(state, contexts)
            for context in bounded.search_in_file_ios(state, files, name, limit_reduction=limit_reduction):
                yield context
                if time.monotonic() > self._until - 1:
                    self._partial = True
                    return

        bounded._check_fs = readable
        bounded.get_module_contexts_containing_name = in_time

    def _spots(self, names: Iterable[Any], *, docs: bool = False) -> Iterator[Spot]:
        seen: set[tuple[str, int, int]] = set()
        for name in names:
            path = str(name.module_path or "")
            line, column = int(name.line or 0), int(name.column or 0)
            key = (path or str(name.full_name), line, column)
            if key in seen or len(seen) >= _MOST:
                continue
            seen.add(key)
            said = self._order.do != "references"
            if path and path != self._order.path and not self._may_read(path):
                continue
            yield Spot(
                path=path,
                line=line,
                column=column + 1,
                source=self._source(path, line),
                kind=str(name.type),
                name=str(name.full_name or name.name),
                signature=_signature(name) if said else "",
                docs=str(name.docstring(raw=True)) if docs else "",
            )

    def _source(self, path: str, line: int) -> str:
        if not path or line <= 0:
            return ""
        if path not in self._lines:
            self._lines[path] = self._read(path)
        lines = self._lines[path]
        return lines[line - 1] if line <= len(lines) else ""

    def _read(self, path: str) -> list[str]:
        if path == self._order.path:
            return self._order.text.splitlines()
        if not self._may_read(path):
            return []
        try:
            with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a hot path of the process
                return file.read(4 * 1024 * 1024).splitlines()
        except OSError:
            return []


def _jedi() -> Any:
    made: Any = import_module("jedi")  # only in this process, and by name: none of them has types
    modules: Any = import_module("jedi.inference.compiled")
    cache: Any = import_module("parso.cache")
    grammar: Any = import_module("parso.grammar")
    load = modules.load_module

    def known(state: Any, dotted_name: str, **more: Any) -> Any:
        """jedi imports compiled modules for real: those of the standard library only."""
        if dotted_name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        return load(state, dotted_name=dotted_name, **more)

    modules.load_module = known

    def nothing(*_args: Any, **_more: Any) -> None:
        """No pickles from the disk: others may write them."""

    cache._load_from_file_system = nothing
    keep = grammar.try_to_save_module

    def in_memory(*args: Any, **more: Any) -> None:
        keep(*args, **{**more, "pickling": False})

    grammar.try_to_save_module = in_memory
    made.settings.auto_import_modules = []
    return made


def _only_below(folders: Iterable[str]) -> Callable[[str], bool]:
    """Let jedi read nothing but files that really lie below `folders` or are its own, and no secret: a link may be
    called like a module and lead anywhere. Gives the test of a path.
    """
    own = [os.path.dirname(str(import_module(name).__file__)) for name in ("jedi", "parso")]  # noqa: PTH120
    tops = tuple(f"{os.path.realpath(top).rstrip(os.sep)}{os.sep}" for top in (*folders, *own))

    def may_read(path: str) -> bool:
        try:
            real = os.path.realpath(path)
        except (OSError, ValueError):
            return False
        return real.startswith(tops) and not any(might_be_secret(p, os.path.basename(p)) for p in (path, real))  # noqa: PTH119

    files: Any = import_module("parso.file_io")
    read = files.FileIO.read

    def read_allowed(file: Any) -> Any:
        return read(file) if may_read(str(file.path)) else b""

    files.FileIO.read = read_allowed
    return may_read


def _standard() -> list[str]:
    """The folders of the standard library, without the packages that Gongfu itself came with."""
    return [p for p in sys.path if p and "site-packages" not in p and "dist-packages" not in p and _within_base(p)]


def _within_base(path: str) -> bool:
    return any(path.startswith(base) for base in (sys.base_prefix, sys.base_exec_prefix))


def _signature(name: Any) -> str:
    found = [str(s.to_string()) for s in name.get_signatures()]
    kind = str(name.type)
    if found:
        word = {"class": "class ", "function": "def "}.get(kind, "")
        return "\n".join(word + one for one in found[:4])
    return str(name.description)


def _candidate(found: Any) -> Candidate:
    kind = str(found.type)
    return Candidate(name=str(found.name), kind={"statement": "variable", "param": "parameter"}.get(kind, kind))


def _errors(files: Iterable[str]) -> Iterator[Spot]:
    """What Python's own compiler cannot read; nothing is run."""
    import warnings

    warnings.simplefilter("ignore")
    for path in files:
        try:
            with Path(path).open("rb") as file:
                raw = file.read(_LARGEST)
            compile(raw, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            message = f"{error.msg} (Python {sys.version_info[0]}.{sys.version_info[1]})"
            line, column = error.lineno or 1, error.offset or 1
            yield Spot(path=path, line=line, column=max(column, 1), source=error.text or "", signature=message)
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            yield Spot(path=path, line=1, column=1, signature=f"it cannot be compiled: {error or type(error).__name__}")
        except OSError:
            continue


if __name__ == "__main__":
    main()
