"""The tools append_file and write_chunk."""

from __future__ import annotations

import binascii
import re
import shutil
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread

from gongfu.core.base import Base
from gongfu.core.display import Display, text_display
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.diffs import diff_of
from gongfu.toolkit.files import check_text, previewed
from gongfu.toolkit.places import Places, explained
from gongfu.toolkit.reading import lines_of
from gongfu.toolkit.readlog import ReadLog
from gongfu.tools.decorator import tool
from gongfu.tools.protocol import Claim, Facts, Outcome
from gongfu.workspace.files import TextFile, digest, encode, read_text_file, write_atomic
from gongfu.workspace.pieces import Mark, mark_of, place_pieces
from gongfu.workspace.root import Located, Workspace

_NEWLINE = r"\r\n|\n|\r"
_MOST_PARTS = 10_000
_MOST_BYTES = 2 * 1024 * 1024 * 1024
_SHA256 = r"[0-9a-fA-F]{64}"


class _Part(Base, frozen=True):
    """One part as it was sent; `size` and `sha256` are what the whole must have."""

    number: int
    raw: bytes
    is_text: bool
    size: int | None = None
    sha256: str | None = None


class _Upload:
    """The parts of one file that have come. `before` is how the file was when the first did."""

    def __init__(self, folder: Path, before: Mark) -> None:
        self.folder = folder
        self.before = before
        self.parts: dict[int, int] = {}
        self.is_text = True

    def piece(self, part: int) -> Path:
        return self.folder / str(part)

    @property
    def bytes(self) -> int:
        return sum(self.parts.values())

    @property
    def missing(self) -> list[int]:
        return [n for n in range(1, max(self.parts, default=0) + 1) if n not in self.parts]


class AppendTools:
    """append_file and write_chunk of one session; `close` removes the parts of files that were never finished."""

    def __init__(self, workspace: Workspace, reads: ReadLog) -> None:
        self._workspace = workspace
        self._places = Places(workspace)
        self._reads = reads
        self._uploads: dict[Path, _Upload] = {}
        self._folder: Path | None = None

    async def close(self) -> None:
        """Remove what is left of files that were begun."""
        folder, self._folder = self._folder, None
        self._uploads.clear()
        if folder is not None:
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))

    # --- append_file ----------------------------------------------------------------------------------------------

    async def _append_facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args["path"])
        text, same_line = args["text"], bool(args.get("same_line"))
        preview = await previewed(
            self._places.consent(located), lambda: self._diff(located, *self._plan(located, text, same_line=same_line))
        )
        paths = self._places.paths(located, write=True)
        return Facts(access=("write",), paths=paths, writes=paths, title=located.shown, preview=preview)

    def _claims(self, args: dict[str, Any]) -> tuple[Claim, ...]:
        return (Claim(resource=str(self._workspace.locate(args["path"]).path), write=True),)

    @tool(access="write", facts=_append_facts, claims=_claims)
    async def append_file(self, path: str, text: str, same_line: bool = False) -> Outcome:
        located = self._places.again(path)
        return await anyio.to_thread.run_sync(self._append, located, text, same_line)

    def _plan(self, located: Located, text: str, *, same_line: bool) -> tuple[TextFile | None, str]:
        """The file as it is, and what is added to it in its own line ends."""
        check_text(text, "text")
        if not text:
            raise ToolFailure("text is empty; there is nothing to append")
        with explained(located):
            try:
                old = read_text_file(located.path)
            except FileNotFoundError:
                if located.path.is_symlink():
                    raise
                return None, text
        if old.newline and not old.mixed:
            text = re.sub(_NEWLINE, old.newline, text)
        if not same_line and old.text and old.text[-1] not in "\r\n":
            text = (old.newline or "\n") + text
        elif not same_line and old.text and text[-1] not in "\r\n":
            text += old.newline or "\n"  # as the line before it ends
        return old, text

    def _diff(self, located: Located, old: TextFile | None, added: str) -> Display:
        before = old.text if old is not None else ""
        return diff_of(located.shown, before, before + added, created=old is None)

    def _append(self, located: Located, text: str, same_line: bool) -> Outcome:
        old, added = self._plan(located, text, same_line=same_line)
        count = len(lines_of(text))
        lines = f"{count} line{'' if count == 1 else 's'}"
        seen = self._reads.seen(located.path)
        with explained(located):
            if old is None:
                located.path.parent.mkdir(parents=True, exist_ok=True)
                new = added.encode("utf-8")
                write_atomic(located.path, new, expect="", workspace=self._workspace)
            else:
                new = old.raw + encode(old, added)
                write_atomic(located.path, new, expect=old.digest, workspace=self._workspace)
        display = self._diff(located, old, added)
        if old is None:
            self._reads.wrote(located.path, digest(new))
            return Outcome(text=f"Created {located.shown} ({lines}).", display=display)
        if seen is not None and seen.digest == old.digest:
            self._reads.wrote(located.path, digest(new), whole=False)
        total = len(lines_of(old.text + added))
        return Outcome(text=f"Appended {lines} to {located.shown}, which has {total:,} now.", display=display)

    # --- write_chunk ----------------------------------------------------------------------------------------------

    async def _chunk_facts(self, args: dict[str, Any]) -> Facts:
        located = self._places.judge(args["path"])
        paths = self._places.paths(located, write=True)
        title = f"{located.shown} (part {args['part']})"
        return Facts(access=("write",), paths=paths, writes=paths, title=title)

    @tool(access="write", facts=_chunk_facts, claims=_claims)
    async def write_chunk(
        self,
        path: str,
        part: int,
        data: str = "",
        *,
        encoding: Literal["text", "base64"] = "text",
        finish: bool = False,
        size: int | None = None,
        sha256: str | None = None,
        overwrite: bool = False,
    ) -> Outcome:
        located = self._places.again(path)
        if not 1 <= part <= _MOST_PARTS:
            raise ToolFailure(f"part must be from 1 to {_MOST_PARTS:,}; arrived: {part}")
        if sha256 is not None and re.fullmatch(_SHA256, sha256) is None:
            raise ToolFailure("sha256 must be 64 hexadecimal digits")
        raw = _decoded(data, encoding)
        sent = _Part(number=part, raw=raw, is_text=encoding == "text", size=size, sha256=sha256)
        return await anyio.to_thread.run_sync(partial(self._chunk, located, sent, finish=finish, overwrite=overwrite))

    def _chunk(self, located: Located, sent: _Part, *, finish: bool, overwrite: bool) -> Outcome:
        part = sent.number
        with explained(located):
            upload = self._upload(located, part, overwrite=overwrite)
            if upload.bytes - upload.parts.get(part, 0) + len(sent.raw) > _MOST_BYTES:
                raise ToolFailure(f"more than {_MOST_BYTES:,} bytes in one file; part {part} was not taken")
            upload.piece(part).write_bytes(sent.raw)
        upload.parts[part] = len(sent.raw)
        upload.is_text = upload.is_text and sent.is_text
        if finish:
            return self._finish(located, upload, sent)
        so_far = f"{len(upload.parts)} part{'s' * (len(upload.parts) != 1)}, {upload.bytes:,} bytes"
        missing = f"; missing: {_numbers(upload.missing)}" if upload.missing else ""
        text = f"Part {part} of {located.shown} is kept ({so_far} so far{missing}). finish=true writes the file."
        return Outcome(text=text, display=text_display("", f"{len(sent.raw):,} bytes"))

    def _upload(self, located: Located, part: int, *, overwrite: bool) -> _Upload:
        """What has come of a file; part 1 begins it anew."""
        path = located.path
        if path.is_dir():
            raise IsADirectoryError(path)
        if path.exists() and not overwrite:
            raise ToolFailure(
                f"{located.shown} exists already; nothing was written. Choose another name, or set overwrite=true."
            )
        known = self._uploads.get(path)
        if part > 1:
            if known is None:
                raise ToolFailure(f"no part of {located.shown} is here yet; begin with part 1")
            return known
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gongfu-parts-"))
        if known is not None:
            shutil.rmtree(known.folder, ignore_errors=True)
        upload = _Upload(Path(tempfile.mkdtemp(dir=self._folder)), mark_of(path))
        self._uploads[path] = upload
        return upload

    def _finish(self, located: Located, upload: _Upload, sent: _Part) -> Outcome:
        shown, last = located.shown, max(upload.parts)
        if upload.missing:
            raise ToolFailure(f"{shown} lacks part {_numbers(upload.missing)}; send it, then finish again")
        if last != sent.number:
            raise ToolFailure(f"part {last} came before and lies beyond part {sent.number}; finish with the last part")

        def verify(got: int, told: str) -> None:
            if sent.size is not None and got != sent.size:
                raise ToolFailure(f"the parts have {got:,} bytes, not {sent.size:,}; {shown} was not written")
            if sent.sha256 is not None and told != sent.sha256.lower():
                raise ToolFailure(f"the SHA-256 of the parts is {told}; {shown} was not written")

        pieces = [upload.piece(n) for n in sorted(upload.parts)]
        with explained(located):
            located.path.parent.mkdir(parents=True, exist_ok=True)
            placed = place_pieces(located.path, pieces, upload.before, verify)
        del self._uploads[located.path]
        shutil.rmtree(upload.folder, ignore_errors=True)
        self._reads.wrote(located.path, placed.digest, whole=upload.is_text)
        what = f"{placed.size:,} bytes in {len(pieces)} part{'s' * (len(pieces) != 1)}"
        return Outcome(text=f"Wrote {shown} ({what}).", display=text_display("", f"{placed.size:,} bytes"))


def _decoded(data: str, encoding: str) -> bytes:
    if encoding == "text":
        check_text(data, "data")
        return data.encode("utf-8")
    try:
        return binascii.a2b_base64("".join(data.split()), strict_mode=bool(data.strip()))
    except (ValueError, UnicodeEncodeError) as error:
        raise ToolFailure(f"data is no base64 ({error}); this part was not taken") from None


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")
