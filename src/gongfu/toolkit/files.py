"""The tools read_file, write_file and list_files."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from typing import Any, TypeAlias

import anyio.to_thread

from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.core.messages import ImagePart
from gongfu.toolkit.diffs import diff_of
from gongfu.toolkit.listing import tree
from gongfu.toolkit.pictures import Picture, picture_of
from gongfu.toolkit.places import Places, explained
from gongfu.toolkit.reading import large_view, lines_of, notebook_text, notes_on, view
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome, Toolset
from gongfu.workspace.files import (
    TextFile,
    as_text,
    digest,
    encode_whole,
    open_regular,
    read_bytes,
    read_text_file,
    write_atomic,
)
from gongfu.workspace.root import Located, Workspace

ArtifactReader: TypeAlias = Callable[[str, int, int, int], Outcome]
_ARTIFACT = "artifact:"
_LINES = 2000
_LARGE = 8 * 1024 * 1024
_MAX_IMAGE = 5 * 1024 * 1024
_MAX_SIDE = 8000
_MARGIN = 512
_PDF = b"%PDF-"


def file_tools(
    workspace: Workspace, reads: ReadLog, artifacts: ArtifactReader | None = None, *, limit: int = 32_768
) -> Toolset:
    """read_file, write_file and list_files of one session.

    `artifacts(id, offset, limit, room)` shows `limit` lines of a spilled output from number `offset` on in `room`
    bytes; `limit` is how many bytes of one result the model is shown.
    """
    tools = FileTools(workspace, reads, artifacts, limit=limit)
    return (tools.read_file, tools.write_file, tools.list_files)


class FileTools:
    """See `file_tools`."""

    def __init__(self, workspace: Workspace, reads: ReadLog, artifacts: ArtifactReader | None, *, limit: int) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._reads = reads
        self._artifacts = artifacts
        self._room = max(1024, limit - _MARGIN)

    # --- read_file ------------------------------------------------------------------------------------------------

    async def _read_facts(self, args: dict[str, Any]) -> Facts:
        path: str = args["path"]
        if path.startswith(_ARTIFACT):
            return Facts(access=("read",), title=path)
        located = self._places.judge(path)
        first, count = args.get("offset"), args.get("limit")
        lines = f":{first or 1}" if first or count else ""
        lines += f"-{(first or 1) + count - 1}" if count and (first or 1) > 0 else ""
        return Facts(access=("read",), paths=self._places.paths(located), title=located.shown + lines)

    def _read_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        path: str = args["path"]
        return () if path.startswith(_ARTIFACT) else (Claim(resource=str(self._workspace.locate(path).path)),)

    @tool(access="read", facts=_read_facts, claims=_read_claims)
    async def read_file(self, path: str, offset: int | None = None, limit: int | None = None) -> Outcome:
        if path.startswith(_ARTIFACT):
            if self._artifacts is None:
                raise ToolFailure("no output was kept in this session")
            return await anyio.to_thread.run_sync(self._artifacts, path, offset or 1, limit or _LINES, self._room)
        located = self._places.again(path)
        read = await anyio.to_thread.run_sync(self._read, located, offset, limit)
        return read or await self._read_pdf(located, offset, limit)

    async def _read_pdf(self, located: Located, offset: int | None, limit: int | None) -> Outcome:
        from gongfu.toolkit.pdf import MAX_PDF, pdf_text  # only for a PDF

        with explained(located):
            raw, _ = await anyio.to_thread.run_sync(read_bytes, located.path, MAX_PDF)
        given = {} if limit is None else {"limit": limit}
        pages = await pdf_text(raw, located.shown, offset=offset or 1, room=self._room, **given)
        count = pages.last - pages.first + 1
        return Outcome(text=pages.text, display=text_display("", f"{count} pages" if count != 1 else "1 page"))

    def _read(self, located: Located, offset: int | None, limit: int | None) -> Outcome | None:
        """What is shown of a file; None for a PDF, which is read apart."""
        with explained(located):
            if located.path.is_dir():
                raise ToolFailure(f'{located.shown} is a folder; list_files path="{located.shown}" shows what is in it')
            if not os.path.lexists(located.path):
                raise self._places.missing(located)
            with open_regular(located.path) as file:
                head = file.read(64)
            if head.startswith(_PDF):
                return None
            if located.path.stat().st_size > _LARGE and picture_of(head) is None:
                return self._read_large(located, offset or 1, limit or _LINES)
            raw, status = read_bytes(located.path, _LARGE)
        picture = picture_of(raw)
        if picture is not None:
            return _shown_picture(located, raw, picture)
        file = as_text(located.path, raw)
        if located.path.suffix == ".ipynb" and offset is None and limit is None:
            cells = notebook_text(file.text)
            if cells is not None:
                return Outcome(text=cells, display=text_display("", "notebook"))
        lines = lines_of(file.text)
        shown = view(lines, offset=offset or 1, limit=limit or _LINES, room=self._room, notes=notes_on(file))
        self._reads.saw(located.path, file.digest, status.st_mtime_ns, shown.first, shown.last, shown.total)
        count = shown.last - shown.first + 1
        return Outcome(text=shown.text, display=text_display("", f"{count} lines" if count != 1 else "1 line"))

    def _read_large(self, located: Located, offset: int, limit: int) -> Outcome:
        with open_regular(located.path) as file:
            shown, fingerprint = large_view(file, offset=offset, limit=limit, room=self._room)
        self._reads.saw(located.path, fingerprint, 0, shown.first, shown.last, shown.total)
        return Outcome(text=shown.text, display=text_display("", f"{shown.last - shown.first + 1} lines"))

    # --- write_file -----------------------------------------------------------------------------------------------

    async def _write_facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args["path"])
        preview = await previewed(self._places.consent(located), lambda: self._preview(located, args["content"]))
        paths = self._places.paths(located, write=True)
        return Facts(access=("write",), paths=paths, writes=paths, title=located.shown, preview=preview)

    def _write_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path), write=True),)

    @tool(access="write", facts=_write_facts, claims=_write_claims)
    async def write_file(self, path: str, content: str) -> Outcome:
        located = self._places.again(path)
        return await anyio.to_thread.run_sync(self._write, located, content)

    def _before_write(self, located: Located, content: str) -> tuple[TextFile | None, bytes]:
        """The file as it is and the bytes that would be written; ToolFailure when it must not be written over."""
        check_text(content, "content")
        with explained(located):
            try:
                old = read_text_file(located.path)
            except FileNotFoundError:
                if located.path.is_symlink():
                    raise
                _check_parent(located)
                return None, content.encode("utf-8")
        new = encode_whole(content, old)
        if new != old.raw:
            self._check_seen(located, old)
        return old, new

    def _preview(self, located: Located, content: str) -> Display:
        old, new = self._before_write(located, content)
        if old is not None and new == old.raw:
            return {}
        return diff_of(located.shown, old.text if old else "", _plain(new, old), created=old is None)

    def _check_seen(self, located: Located, old: TextFile) -> None:
        seen = self._reads.seen(located.path)
        if seen is None:
            raise ToolFailure(
                f"{located.shown} exists and you have not read it; nothing was written. Read it first, or choose "
                "another name."
            )
        check_fresh(located, seen.digest, old.digest)
        if not seen.whole and old.text.strip():
            spans = ", ".join(f"{a}-{b}" for a, b in seen.lines) or "none"
            raise ToolFailure(
                f"you have read only lines {spans} of the {seen.total:,} of {located.shown}, and write_file replaces "
                "all; nothing was written. Read the rest, or use edit_file."
            )

    def _write(self, located: Located, content: str) -> Outcome:
        old, new = self._before_write(located, content)
        if old is not None and new == old.raw:
            self._reads.wrote(located.path, old.digest)
            return Outcome(
                text=f"{located.shown} already has exactly this content; nothing was written.",
                display=text_display("", "unchanged"),
            )
        with explained(located):
            if old is None:
                located.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(located.path, new, expect=old.digest if old else "", workspace=self._workspace)
        self._reads.wrote(located.path, digest(new))
        display = diff_of(located.shown, old.text if old else "", _plain(new, old), created=old is None)
        if old is None:
            count = len(lines_of(content))
            return Outcome(text=f"Created {located.shown} ({count} line{'' if count == 1 else 's'}).", display=display)
        return Outcome(text=f"Wrote {located.shown} (+{display['added']} -{display['removed']}).", display=display)

    # --- list_files -----------------------------------------------------------------------------------------------

    async def _list_facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args.get("path") or ".")
        return Facts(access=("read",), paths=self._places.paths(located), title=located.shown)

    def _list_claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args.get("path") or ".").path)),)

    @tool(access="read", facts=_list_facts, claims=_list_claims)
    async def list_files(self, path: str = ".", depth: int = 2) -> Outcome:
        located = self._places.again(path or ".")
        if not located.path.exists():
            raise self._places.missing(located)
        if not located.path.is_dir():
            raise ToolFailure(f'{located.shown} is a file; read_file path="{located.shown}" shows it')
        if depth < 1:
            raise ToolFailure(f"depth must be at least 1; arrived: {depth}")
        with explained(located):
            text, count = await anyio.to_thread.run_sync(
                tree, located.path, self._workspace, min(depth, 20), self._room
            )
        return Outcome(text=text, display=text_display("", f"{count} entries"))


async def previewed(consent: str, preview: Callable[[], Display]) -> Display:
    """What `preview` shows the person. Its failure speaks to the model, unless `consent` is still to be had: then
    there is no preview, and of a secret there is none at all, for previews are kept."""
    if consent == "secret":
        return {}
    try:
        return await anyio.to_thread.run_sync(preview, abandon_on_cancel=True)  # it changes nothing
    except ToolFailure:
        if consent:
            return {}
        raise


def check_text(text: str, what: str) -> None:
    """ToolFailure for a text with lone surrogates, which no file can hold."""
    bad = next((i for i, c in enumerate(text) if "\ud800" <= c <= "\udfff"), -1) if not text.isascii() else -1
    if bad >= 0:
        raise ToolFailure(f"{what} has a lone surrogate at character {bad + 1}, which is no character; leave it out")


def check_fresh(located: Located, known: str, now: str) -> None:
    """ToolFailure when the file is not what the model last saw."""
    if known != now:
        raise ToolFailure(
            f"{located.shown} was changed by someone else since you last read or wrote it; nothing was written. "
            "Read it again, then make your change on what is there now."
        )


def _check_parent(located: Located) -> None:
    for folder in located.path.parents:
        if folder.is_dir():
            return
        if os.path.lexists(folder):
            raise NotADirectoryError(folder)


def _plain(raw: bytes, old: TextFile | None) -> str:
    return old.encoding.decode(raw) if old else raw.decode("utf-8")


def _shown_picture(located: Located, raw: bytes, picture: Picture) -> Outcome:
    if len(raw) > _MAX_IMAGE or max(picture.width, picture.height) > _MAX_SIDE:
        raise ToolFailure(
            f"{located.shown} is an image of {len(raw):,} bytes and {picture.width}x{picture.height} pixels; at most "
            f"{_MAX_IMAGE:,} bytes and {_MAX_SIDE} pixels a side can be shown. Make a smaller copy first."
        )
    size = f"{picture.width}x{picture.height}" if picture.width else "size unknown"
    image = ImagePart(
        media_type=picture.media_type,
        data=base64.b64encode(raw).decode("ascii"),
        width=picture.width,
        height=picture.height,
    )
    display = {
        "kind": "image", "media_type": picture.media_type, "artifact": "", "width": picture.width,
        "height": picture.height, "summary": size,
    }  # fmt: skip
    return Outcome(text=f"{located.shown}: {picture.media_type}, {size}", display=display, images=(image,))
