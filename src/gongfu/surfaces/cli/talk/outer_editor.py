"""The editor of the person, for a text that is long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from gongfu.core.errors import UserError

T = TypeVar("T")


class Outside(Protocol):
    """What can give the terminal away, such as a `Face`."""

    def outside(self, work: Callable[[], T]) -> Awaitable[T]:
        """Give it away while `work` runs in a thread."""
        ...


async def edit_outside(face: Outside, text: str, env: Mapping[str, str]) -> str | None:
    """`text` as the person left it in their editor; None when they changed nothing.

    UserError when there is no editor, when it failed, or when what it wrote cannot be read. The file is private and is
    removed, unless the editor failed after something was written: then it stays and the error names it.
    """
    with _uninterrupted():
        return await face.outside(lambda: _edited(text, env))


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Ctrl-C in the editor is meant for it alone, though the terminal sends it to this process, too."""
    import signal

    def nothing(*_: object) -> None:
        """A function, as what is ignored would be ignored by the editor as well."""

    try:
        before = signal.signal(signal.SIGINT, nothing)
    except ValueError:  # not the main thread: nobody presses Ctrl-C there
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _edited(text: str, env: Mapping[str, str]) -> str | None:
    import shutil
    from tempfile import mkdtemp  # loads much, and is seldom needed

    from gongfu.workspace.editors import editor_of, run_editor

    words, variable = editor_of(env)
    if not words:
        raise UserError("talk_edit.editor_none")
    folder = Path(mkdtemp(prefix="gongfu-"))  # mode 0700
    path, keep = folder / "prompt.md", False
    before = f"{text}\n" if text and not text.endswith("\n") else text
    try:
        path.touch(mode=0o600)
        path.write_bytes(before.encode("utf-8", "surrogatepass"))
        try:
            code = run_editor(words, path, env)
        except OSError as error:
            raise UserError(
                "talk_edit.editor_missing",
                editor=words[0], reason=error.strerror or error, variable=variable or "PATH",
            ) from None  # fmt: skip
        after = _read(path)
        if code:
            keep = after not in (before, "")
            key = "talk_edit.editor_failed_kept" if keep else "talk_edit.editor_failed"
            raise UserError(key, code=code, path=path)
        return None if after == before else after.removesuffix("\n")
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UserError("talk_edit.editor_lost", reason=error.strerror or error) from None
    return raw.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
