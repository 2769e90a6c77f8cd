"""What a person said, as a block that stands out."""

from __future__ import annotations

from msgspec.structs import replace

from gongfu.core import events as ev
from gongfu.core.messages import ImagePart, Message, TextPart
from gongfu.surfaces.cli.render.lines import Lines
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.width import wrap

_HEAD, _END = 8, 3  # rows of a long text that are shown
_MOST = 14
_CHARS = 4000  # characters at either end of a text that are looked at


def typed_text(event: ev.PromptQueued, lines: Lines) -> Message:
    """The prompt as the person typed it; of a command the text that came of it is shown when verbose."""
    message = event.message
    if event.bounds is None or not event.bounds.command or lines.verbose:
        return message
    others = tuple(part for part in message.parts if not isinstance(part, TextPart))
    return replace(message, parts=(TextPart(text=event.bounds.command), *others))


def prompt_block(message: Message, lines: Lines, *, mark: str = "›") -> str:
    """`› text`; of a long one the beginning and the end, with the number of rows between."""
    style, room = lines.style, max(8, (lines.columns or 200) - 2)
    text = message.text.strip()
    rows = wrap(_cleaned(text[:_CHARS] if len(text) > _CHARS * 2 else text), room)
    if len(text) > _CHARS * 2:
        left_out = text.count("\n", _CHARS, len(text) - _CHARS)
        rows = [*rows[:_HEAD], "\0", *wrap(_cleaned(text[-_CHARS:]), room)[-_END:]]
        left_out += text[:_CHARS].count("\n") + text[-_CHARS:].count("\n") - _HEAD - _END
    elif len(rows) > _MOST and not lines.verbose:
        left_out = len(rows) - _HEAD - _END
        rows = [*rows[:_HEAD], "\0", *rows[-_END:]]
    else:
        left_out = 0
    cut = style.dim(lines.speech("talk_view.cut", count=max(1, left_out)))
    shown = [cut if row == "\0" else style.bold(row) for row in rows if text]
    shown += [style.dim(row) for row in _pictures(message, lines)]
    return "\n".join(f"{style.cyan(mark) if not at else ' '} {row}" for at, row in enumerate(shown or [""]))


def _cleaned(text: str) -> str:
    return clean(text).expandtabs(4)


def _pictures(message: Message, lines: Lines) -> list[str]:
    rows: list[str] = []
    for part in message.parts:
        if isinstance(part, ImagePart):
            kind = clean(part.media_type.rpartition("/")[2])[:20]
            size = f"{part.width}×{part.height}" if part.width and part.height else ""
            facts = " ".join(filter(None, (kind, size))) or clean(part.url)[:60]
            rows.append(lines.speech("talk_view.picture", what=lines.speech("talk_view.image"), facts=facts))
    return rows
