"""What a fetched body says, as text for the model: pages as Markdown, text and data as they are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any, cast

from gongfu.core.base import Base
from gongfu.core.errors import ToolFailure
from gongfu.toolkit.web_markdown import to_markdown
from gongfu.workspace.encodings import detect

_EXTRACTED = 2_000_000  # characters of a page that the library is given; it takes seconds for each further million
_SHORT = 3000  # characters of a page whose main part is not looked for
_HEADING = r"(?m)^#{1,6} "
_HTML = ("text/html", "application/xhtml+xml")
_TEXTS = r"text/|application/(?:.*\+)?(?:json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|sql|x-sh)|image/svg"
_WEAK = ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii", "windows-1252")
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932"}
_META = rb"(?i)<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:\-]+)|<\?xml[^>]{0,200}encoding\s*=\s*[\"']([\w.:\-]+)"


class Page(Base, frozen=True):
    """The text of a body, its title if it has one, and what kind of body it is."""

    text: str
    title: str = ""
    kind: str = ""


def page_of(raw: bytes, media_type: str, charset: str, url: str, *, source: bool = False) -> Page:
    """What `raw` says; with `source` a page is not converted. ToolFailure for what is no text.

    May take seconds: it belongs in a thread.
    """
    if not _is_textual(raw, media_type):
        kind = media_type or "of an unknown type"
        raise ToolFailure(
            f"{url} is a file {kind} of {len(raw):,} bytes, which is no text; nothing was kept. Download it with shell "
            "when it is needed."
        )
    text = decoded(raw, charset)
    if media_type not in _HTML and not (media_type in ("", "text/plain") and _looks_html(text)):
        return Page(text=text, kind=media_type or "text/plain")
    if source:
        return Page(text=text, title=_title(text), kind="text/html")
    return html_page(text, url)


def _is_textual(raw: bytes, media_type: str) -> bool:
    if re.match(_TEXTS, media_type):
        return True
    if media_type and media_type not in ("application/octet-stream", "binary/octet-stream"):
        return False
    return b"\0" not in raw[:4096] and detect(raw[:65536]) is not None


def _looks_html(text: str) -> bool:
    return re.match(r"(?is)\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html)\b", text[:2000]) is not None


# --- characters -------------------------------------------------------------------------------------------------------


def decoded(raw: bytes, charset: str) -> str:
    """The text of a body. Marks come first, then the header's `charset`, what the page says itself, UTF-8, and what
    fits best; a charset that does not fit is passed over."""
    for mark, codec in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if raw.startswith(mark):
            return raw[len(mark) :].decode(codec, "replace")
    found = re.search(_META, raw[:4096])
    inside = (found[1] or found[2]).decode("ascii", "replace").lower() if found else ""
    strong = [name for name in (charset, inside) if name and name not in _WEAK and not name.startswith("utf-16")]
    for name in (*strong, "utf-8"):
        text = _tried(raw, _WIDER.get(name, name))
        if text is not None:
            return text
    known = detect(raw)
    return known.decode(raw) if known is not None else raw.decode("cp1252", "replace")


def _tried(raw: bytes, codec: str) -> str | None:
    """The text in `codec`, when all but a few strays can be read so."""
    try:
        codecs.lookup(codec)
        text = raw.decode(codec, "replace")
    except (LookupError, ValueError, AssertionError):  # unknown, or a codec that is not for text
        return None
    strays = text.count("\ufffd")
    return text if strays <= 3 or strays * 500 < len(text) else None


# --- pages ------------------------------------------------------------------------------------------------------------


def html_page(html: str, url: str) -> Page:
    """A page as Markdown: its main part through the library of the extra `web`, else all of it."""
    title, whole = to_markdown(html, url)
    if len(whole) > _SHORT and len(html) <= _EXTRACTED and _is_better(main := _main_part(html, url), whole):
        whole = main
    return Page(text=whole, title=title, kind="text/html")


def _is_better(main: str, whole: str) -> bool:
    """Whether the library's main part is worth more than all of the page, which keeps code, tables and lists better: it
    left out much, but not nearly all as with a page of links or a form, and it is not flat text where the page has
    headings."""
    left_out = len(whole) > 1.4 * len(main)
    flat = re.search(_HEADING, main) is None and re.search(_HEADING, whole) is not None
    return left_out and not flat and (len(main) * 4 > len(whole) or len(main) > 2000)


def _main_part(html: str, url: str) -> str:
    try:
        import trafilatura  # half a second, and only with the extra `web`
    except ImportError:
        return ""
    extract = cast("Callable[..., str | None]", cast(Any, trafilatura).extract)
    try:
        main = extract(
            html, url=url, output_format="markdown", include_links=True, include_tables=True, include_formatting=True,
            include_comments=False, favor_recall=True, with_metadata=False,
        )  # fmt: skip
    except (ValueError, TypeError, AttributeError, RecursionError, LookupError):  # what it meets in odd pages
        return ""
    return re.sub(r"(?<=\w)\\_(?=\w)", "_", main or "")  # names are not to be escaped


def _title(html: str) -> str:
    import html as entities  # only here

    found = re.search(r"(?is)<title[^>]*>(.{0,300}?)</title", html[:100_000])
    return " ".join(entities.unescape(found[1]).split()) if found else ""
