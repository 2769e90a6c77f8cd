"""A long text for the model: the beginning, how to go on, and the whole of it kept."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure, UserError
from gongfu.toolkit.web_guard import unbroken
from gongfu.tools.output import rows

if TYPE_CHECKING:
    from gongfu.store.artifacts import ArtifactWriter

_NOTICE = 256  # bytes kept for the line that says how to go on


class Paged(Base, frozen=True):
    """A view of a text; `spill` is the file that holds all of it when the view does not, `total` its lines."""

    text: str
    total: int
    spill: str = ""


def paged(text: str, offset: int, room: int, artifact: Callable[[], ArtifactWriter]) -> Paged:
    """The lines of `text` from number `offset` on, as many as fit in `room` bytes. ToolFailure when there are none."""
    data = unbroken(text).encode()
    lines = [line.decode("utf-8", "replace") for line in rows(BytesIO(data))]
    if offset == 1 and len(data) <= room:
        return Paged(text=data.decode(), total=len(lines))
    if not 1 <= offset <= len(lines):
        raise ToolFailure(f"there is no line {offset:,}: the page has {len(lines):,} lines")
    shown: list[str] = []
    left = room - _NOTICE
    for line in lines[offset - 1 :]:
        left -= len(line.encode()) + 1
        if left < 0 and shown:
            break
        shown.append(line)
    last = offset + len(shown) - 1
    note, spill = f"lines {offset:,}-{last:,} of {len(lines):,}", ""
    if last < len(lines):
        spill, kept = _keep(data, artifact)
        note += f"; {kept}offset={last + 1} goes on"
    return Paged(text="\n".join([*shown, f"[{note}]"]), total=len(lines), spill=spill)


def _keep(data: bytes, artifact: Callable[[], ArtifactWriter]) -> tuple[str, str]:
    """Keep the whole text: where, and the beginning of how to read on."""
    try:
        with artifact() as writer:
            writer.write(data)
    except UserError:  # the disk is full: the page can be asked for once more
        return "", ""
    return str(writer.path), f"recall id={writer.id} "
