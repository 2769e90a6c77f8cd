"""A talk as Markdown."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from gongfu.app.export.talk import Answer, Done, Item, Talk, Thought, Turn, Words
from gongfu.core.messages import ImagePart
from gongfu.core.words import Language, say

Picture = Callable[[ImagePart], str]


def to_markdown(talk: Talk, language: Language, picture: Picture) -> str:
    """The whole talk. `picture` gives the address that an image is shown by, "" for one that is only named."""
    blocks = [f"# {one_line(talk.title) or talk.session}", about(talk, language)]
    for number, turn in enumerate(talk.turns, 1):
        blocks += _turn(turn, number, language, picture)
    return "\n\n".join(block for block in blocks if block) + "\n"


def about(talk: Talk, language: Language) -> str:
    """When, where, how much, in one line."""
    parts = [stamp(talk.at), talk.folder, say("export.session", language, id=talk.session)]
    if talk.tokens:
        parts.append(say("export.tokens", language, count=f"{talk.tokens:,}"))
    if talk.cost is not None:
        parts.append(f"${talk.cost:.4f}".rstrip("0").rstrip("."))
    return " · ".join(part for part in parts if part)


def stamp(at: float) -> str:
    """A time as people write it, in the time zone of this machine; "" when it is not known."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at else ""


def one_line(text: str) -> str:
    """A text without its line ends."""
    return " ".join(text.split())


def _turn(turn: Turn, number: int, language: Language, picture: Picture) -> Iterator[str]:
    """The blocks of a turn: what stands between two blank lines."""
    asked = False
    for item in turn.items:
        if isinstance(item, Words):
            yield f"### {say('export.you_too', language)}" if asked or item.steer else f"## {number}. {_you(language)}"
            asked = True
        yield from _item(item, language, picture)
    if turn.reason:
        yield f"*{one_line(turn.reason)}*"


def _you(language: Language) -> str:
    return say("export.you", language)


def _item(item: Item, language: Language, picture: Picture) -> Iterator[str]:
    match item:
        case Words(text=text, images=images):
            yield "\n".join(f"> {line}".rstrip() for line in text.splitlines())
            yield from _pictures(images, language, picture)
        case Thought(text=text):
            yield folded(say("export.thinking", language), text.strip())
        case Answer(text=text, final=final):
            yield "### Gongfu" if final else ""
            yield text.strip()
        case Done():
            yield from _call(item, language, picture)


def _call(call: Done, language: Language, picture: Picture) -> Iterator[str]:
    if call.label:
        yield f"**{one_line(call.label)}**"
    title = one_line(call.title) if call.title and call.title != call.name else ""
    head = f"`{call.name}`{f' {code(title)}' if title else ''} {state(call, language)}"
    diff = str(call.display.get("diff") or "")
    body = fence(diff, "diff") if diff else fence(call.text) if call.text.strip() else ""
    yield folded(head.strip(), body)
    yield from _pictures(call.images, language, picture)


def state(call: Done, language: Language) -> str:
    """How a call ended, in a word, and how long it took."""
    word = say(f"export.status_{call.status or 'open'}", language)
    return f"({word}, {call.seconds:.1f} s)" if call.seconds >= 0.1 else f"({word})"


def code(text: str) -> str:
    """An inline code span that holds whatever backticks `text` has."""
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str, language: str = "") -> str:
    """A code block that nothing in `text` can end."""
    ticks = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    body = text.rstrip("\n")
    return f"{ticks}{language}\n{body}\n{ticks}"


def folded(head: str, body: str) -> str:
    """`body` below a line that opens it; the line alone without one."""
    return f"<details>\n<summary>{_html(head)}</summary>\n\n{body}\n\n</details>" if body else head


def _html(text: str) -> str:
    from html import escape

    text = escape(text, quote=False)
    return re.sub(r"(`+) ?(.+?) ?\1", r"<code>\2</code>", text)


def _pictures(images: tuple[ImagePart, ...], language: Language, picture: Picture) -> Iterator[str]:
    for image in images:
        name = say("export.image", language, width=image.width or "?", height=image.height or "?")
        address = picture(image)
        yield f"![{name}]({address})" if address else f"*[{name}]*"
