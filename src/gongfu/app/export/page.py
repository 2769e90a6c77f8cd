"""A talk, or a Markdown document, as one HTML page that needs nothing beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from importlib import import_module
from typing import Any, cast

from gongfu.app.export.markdown import about, one_line, state
from gongfu.app.export.pieces import bounded, suffix_of
from gongfu.app.export.talk import Answer, Done, Item, Talk, Thought, Turn, Words
from gongfu.core.messages import ImagePart
from gongfu.core.words import Language, say
from gongfu.resources import text as resource

_PART = 50  # lines of code that are laid out as one: a browser that prints lays the whole out anew for every page
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLES = {"text-align"}
_TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5",
    "h6", "hr", "img", "input", "kbd", "li", "mark", "ol", "p", "pre", "s", "span", "strong", "sub", "summary", "sup",
    "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"class", "id"},
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
    "td": {"style"},
    "th": {"style"},
    "details": {"open"},
}


def talk_page(talk: Talk, language: Language, *, opened: bool = False) -> str:
    """The page of a talk. Pictures are in it, nothing is fetched. What is folded is `opened` on paper."""
    title = one_line(talk.title) or talk.session
    parts = [f"<header><h1>{escape(title)}</h1><p class=about>{escape(about(talk, language))}</p></header>"]
    for number, turn in enumerate(talk.turns, 1):
        parts.extend(_turn(turn, number, language))
    body = "\n".join(parts)
    return page(title, body.replace("<details", "<details open") if opened else body, language)


def document_page(title: str, markdown: str, language: Language, image: Callable[[str], str] = lambda _: "") -> str:
    """The page of a Markdown document. `image` gives what stands for the address of a picture, a `data:` address."""
    return page(title, f"<article class=answer>{to_html(markdown, image)}</article>", language)


def page(title: str, body: str, language: Language) -> str:
    """A whole page around `body`, which is HTML."""
    formatters = import_module("pygments.formatters")  # only for pages
    colours = cast("str", formatters.HtmlFormatter(style="friendly").get_style_defs(".code"))
    style = f"{colours}\n{resource('export.css')}"
    tongue = "zh-CN" if language == "zh" else "en"
    return (
        f'<!doctype html>\n<html lang="{tongue}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _turn(turn: Turn, number: int, language: Language) -> Iterator[str]:
    yield "<section>"
    asked = False
    for item in turn.items:
        if isinstance(item, Words):
            name = "" if asked or item.steer else f"{number}. "
            asked = True
            yield f"<h2>{name}{escape(say('export.you_too' if item.steer else 'export.you', language))}</h2>"
        yield from _item(item, language)
    if turn.reason:
        yield f"<p class=note>{escape(turn.reason)}</p>"
    yield "</section>"


def _item(item: Item, language: Language) -> Iterator[str]:
    match item:
        case Words(text=text, images=images):
            yield f"<div class=words>{escape(text)}</div>"
            yield from _pictures(images, language)
        case Thought(text=text):
            head = escape(say("export.thinking", language))
            yield f"<details><summary>{head}</summary><div class=thought>{escape(text.strip())}</div></details>"
        case Answer(text=text, final=final):
            yield f'<article class="answer{" final" if final else ""}">{to_html(text)}</article>'
        case Done():
            yield from _call(item, language)


def _call(call: Done, language: Language) -> Iterator[str]:
    if call.label:
        yield f"<p class=label>{escape(one_line(call.label))}</p>"
    title = one_line(call.title) if call.title and call.title != call.name else ""
    head = f"<code>{escape(call.name)}</code> {escape(title)} <span class=state>{escape(state(call, language))}</span>"
    body = _result(call, language)
    kind = "call" if call.status == "done" else "call bad"
    yield (
        f'<details class="{kind}"><summary>{head}</summary>{body}</details>'
        if body
        else f'<p class="{kind}">{head}</p>'
    )
    yield from _pictures(call.images, language)


def _result(call: Done, language: Language) -> str:
    if diff := str(call.display.get("diff") or ""):
        return coloured(bounded(diff, language), "diff")
    if call.display.get("kind") == "command":
        command = coloured(str(call.display.get("command") or ""), "bash")
        return command + _plain(bounded(call.text, language))
    return _plain(bounded(call.text, language)) if call.text.strip() else ""


def _plain(text: str) -> str:
    return f"<pre>{escape(text.rstrip())}</pre>" if text.strip() else ""


def _pictures(images: tuple[ImagePart, ...], language: Language) -> Iterator[str]:
    for image in images:
        name = escape(say("export.image", language, width=image.width or "?", height=image.height or "?"))
        address = data_address(image)
        yield f'<p><img src="{address}" alt="{name}"></p>' if address else f"<p class=note>{name}</p>"


def data_address(image: ImagePart) -> str:
    """The address that holds a picture itself; "" for one that is only known by its address, or is no picture."""
    return f"data:{image.media_type};base64,{image.data}" if suffix_of(image) else ""


def to_html(markdown: str, image: Callable[[str], str] = lambda _: "") -> str:
    """Markdown as safe HTML: tables, code in colours; raw HTML, scripts and foreign pictures are left out."""
    import nh3
    from markdown_it import MarkdownIt  # both only for pages

    reader = MarkdownIt("commonmark", {"html": False, "highlight": _highlight, "linkify": False})
    reader.enable(["table", "strikethrough"])
    raw = cast("str", reader.render(markdown))

    def attribute(tag: str, name: str, value: str) -> str | None:
        if tag == "img" and name == "src":
            return (value if value.startswith("data:image/") else image(value)) or None
        return value

    clean = nh3.clean(
        raw, tags=_TAGS, attributes=_ATTRIBUTES, attribute_filter=attribute, filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"}, link_rel="noopener noreferrer",
    )  # fmt: skip
    return re.sub(r"<img\b(?![^>]* src=)[^>]*>", _named_picture, clean)


def _named_picture(found: re.Match[str]) -> str:
    """A picture that is left out, by its name: a browser would draw a broken one."""
    name = re.search(r' alt="([^"]*)"', found[0])
    return f'<span class="note">[{name[1]}]</span>' if name and name[1] else ""


def _highlight(code: str, name: str, _attributes: str) -> str:
    return coloured(code, name)


def coloured(code: str, name: str) -> str:
    """A block of code with the classes of its colours."""
    # pygments has no types that a strict checker would take; only pages load it
    lexers, formatters, whole = (import_module(f"pygments{part}") for part in (".lexers", ".formatters", ""))
    try:
        lexer: Any = lexers.get_lexer_by_name(name or "text")
    except ValueError:  # pygments.util.ClassNotFound: no such language
        lexer = lexers.get_lexer_by_name("text")
    inner = cast("str", whole.highlight(code, lexer, formatters.HtmlFormatter(nowrap=True)))
    lines = inner.rstrip().splitlines(keepends=True)  # no colour goes on over the end of a line
    if len(lines) > _PART:
        parts = ("".join(lines[at : at + _PART]) for at in range(0, len(lines), _PART))
        inner = "".join(f'<div class="part">{part}</div>' for part in parts)
    return f'<pre class="code"><code>{inner.rstrip()}</code></pre>'
