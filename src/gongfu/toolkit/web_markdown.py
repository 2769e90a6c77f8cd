"""HTML to Markdown with the standard library alone: headings, paragraphs, lists, tables, quotations, links, code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from urllib.parse import urljoin


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SKIPPED = _words("script style template noscript svg math iframe object canvas audio video select datalist")
_ASIDE = _words("nav footer aside")
_VOID = _words("area base br col embed hr img input link meta param source track wbr")
_BLOCKS = _words(
    "address article body center dd details dialog div dl dt fieldset figcaption figure form header hgroup html legend "
    "main p section summary"
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_MARKS = {"b": "**", "strong": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`", "tt": "`", "del": "~~"}
_DEEPEST = 40
_LONGEST = 8_000_000
_TAG = r"""<[/!?]?([a-zA-Z]*)(?>[^<>"']|"[^"]{0,3000}"|'[^']{0,3000}'){0,3000}+>"""


def to_markdown(html: str, base: str = "") -> tuple[str, str]:
    """Title and Markdown of a page. Relative links are joined to `base`. Menus and footers are left out, unless there
    is nothing else. Never fails on broken HTML."""
    html = _tame(html[:_LONGEST])
    writer = _Writer(base, _SKIPPED | _ASIDE)
    text = _written(writer, html)
    if not text:
        text = _written(_Writer(base, _SKIPPED), html)
    return writer.title, text


def _tame(html: str) -> str:
    """Without comments, scripts and styles, and with every `<` that begins no tag of usual length as text: for such
    the parser looks to the end of the page each time."""
    html = re.sub(r"data:[^\s\"'<>]{200,}", "data:", html)
    tag = re.compile(_TAG)
    pieces: list[str] = []
    at = 0
    while (start := html.find("<", at)) >= 0:
        pieces.append(html[at:start])
        if html.startswith("<!--", start):
            at = html.find("-->", start) + 3
        elif (found := tag.match(html, start)) is None:
            pieces.append("&lt;")
            at = start + 1
        elif (name := found[1].lower()) in ("script", "style"):
            end = re.compile(rf"(?i)</{name}[^<>]{{0,100}}>").search(html, found.end())
            at = end.end() if end else 0
        else:
            pieces.append(found[0])
            at = found.end()
        if at <= start:  # there is no end
            return "".join(pieces)
    return "".join((*pieces, html[at:]))


def _written(writer: _Writer, html: str) -> str:
    writer.feed(html)
    writer.close()
    return writer.markdown()


class _Writer(HTMLParser):
    """Writes blocks as elements open and close; `inline` gathers the text of the block that is open."""

    def __init__(self, base: str, skipped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._base = base
        self._skipped = skipped
        self._skipping: list[str] = []
        self._in_title = False
        self._blocks: list[tuple[str, bool]] = []  # text, and whether it follows closely (a list entry)
        self._inline: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._marks: list[tuple[str, str, int]] = []
        self._lists: list[int] = []  # the number of the next entry; -1 for one without numbers
        self._marker = ""
        self._quotes = 0
        self._heading = 0
        self._pre = 0
        self._language = ""
        self._tables: list[list[list[str]]] = []
        self._cells = 0

    def markdown(self) -> str:
        """All that was written."""
        self._flush()
        while self._tables:
            self._end_table()
        pieces: list[str] = []
        for text, close in self._blocks:
            pieces.append(("\n" if close else "\n\n") + text)
        return "".join(pieces).strip()

    # --- what the parser calls ----------------------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if self._skipping:
            if tag not in _VOID and len(self._skipping) < _DEEPEST and tag == self._skipping[0]:
                self._skipping.append(tag)
            return
        if tag in self._skipped:
            self._skipping.append(tag)
        elif tag == "title":
            self._in_title = not self.title
        else:
            self._open(tag, {name: value or "" for name, value in attrs})

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag in self._skipped:
            return
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
            return
        if tag == "title":
            self._in_title = False
        else:
            self._shut(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title = " ".join(f"{self.title} {data}".split())[:300]
        elif not self._skipping:
            self._inline.append(data if self._pre else re.sub(r"[ \t\r\n\f\u200b]+", " ", data))

    # --- elements -----------------------------------------------------------------------------------------------------

    def _open(self, tag: str, attrs: dict[str, str]) -> None:
        if self._pre and tag != "br":
            self._language = self._language or _language(attrs)
            self._pre += tag == "pre"
            return
        match tag:
            case "br":
                self._inline.append("\n")
            case "hr":
                self._flush()
                self._blocks.append(("---", False))
            case "a":
                self._links.append((attrs.get("href", "").strip(), len(self._inline)))
            case "img":
                self._image(attrs)
            case "pre" if not self._cells:
                self._flush()
                self._pre, self._language = 1, _language(attrs)
            case "table" | "tr" | "td" | "th" | "caption":
                self._open_table(tag)
            case "ul" | "ol" | "menu" | "li" | "blockquote":
                self._open_list(tag, attrs)
            case _ if tag in _MARKS:
                self._marks.append((tag, _MARKS[tag], len(self._inline)))
            case _ if tag in _HEADINGS:
                self._flush()
                self._heading = _HEADINGS[tag]
            case _ if tag in _BLOCKS:
                self._flush()
            case _:
                pass

    def _shut(self, tag: str) -> None:
        if self._pre:
            self._pre -= tag == "pre"
            if not self._pre:
                self._fence()
            return
        match tag:
            case "a":
                self._end_link()
            case "table" | "td" | "th" | "caption":
                self._shut_table(tag)
            case "ul" | "ol" | "menu":
                self._flush()
                del self._lists[-1:]
            case "li":
                self._flush()
                self._marker = ""
            case "blockquote":
                self._flush()
                self._quotes = max(0, self._quotes - 1)
            case _ if tag in _MARKS:
                self._end_mark(tag)
            case _ if tag in _HEADINGS or tag in _BLOCKS:
                self._flush()
                self._heading = 0
            case _:
                pass

    def _open_list(self, tag: str, attrs: dict[str, str]) -> None:
        self._flush()
        if tag == "blockquote":
            self._quotes += self._quotes < _DEEPEST
        elif tag != "li":
            if len(self._lists) < _DEEPEST:
                start = attrs.get("start", "")
                self._lists.append((int(start[:6]) if start.isdecimal() else 1) if tag == "ol" else -1)
        elif self._lists and self._lists[-1] >= 0:
            self._marker = f"{self._lists[-1]}. "
            self._lists[-1] += 1
        else:
            self._marker = "- "

    def _image(self, attrs: dict[str, str]) -> None:
        alt, source = " ".join(attrs.get("alt", "").split()), attrs.get("src", "")
        if alt and source and not source.startswith("data:"):
            self._inline.append(f"![{alt}]({self._joined(source)})")
        elif alt:
            self._inline.append(alt)

    def _end_link(self) -> None:
        if not self._links:
            return
        href, start = self._links.pop()
        text = " ".join("".join(self._inline[start:]).split())
        if not text or not href or href.startswith(("#", "javascript:", "data:")) or start > len(self._inline):
            return
        whole = self._joined(href)
        self._inline[start:] = [f"<{whole}>" if text == whole else f"[{text}]({whole})"]

    def _end_mark(self, tag: str) -> None:
        for at in range(len(self._marks) - 1, -1, -1):
            name, mark, start = self._marks[at]
            if name == tag:
                del self._marks[at:]
                text = "".join(self._inline[start:])
                if text.strip() and start <= len(self._inline):
                    before = text[: len(text) - len(text.lstrip())]
                    after = text[len(text.rstrip()) :]
                    self._inline[start:] = [f"{before}{mark}{text.strip()}{mark}{after}"]
                return

    def _joined(self, address: str) -> str:
        try:
            whole = urljoin(self._base, address) if self._base else address
        except ValueError:
            whole = address
        return whole.replace(" ", "%20").replace("(", "%28").replace(")", "%29")

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """End the block that is open. Inside of a table cell blocks are only set apart by a blank."""
        if self._cells:
            self._inline.append(" ")
            return
        text = "".join(self._inline)
        self._inline, self._links, self._marks = [], [], []
        lines = [" ".join(line.split()) for line in text.split("\n")]
        text = "\n".join(line for line in lines if line)
        if text:
            self._add("#" * self._heading + " " + text.replace("\n", " ") if self._heading else text)

    def _add(self, text: str) -> None:
        depth = max(0, len(self._lists) - 1)
        first = ("  " * depth + self._marker) if self._marker else "  " * len(self._lists)
        rest = " " * len(first)
        close = bool(self._marker) and bool(self._blocks) and (depth > 0 or _is_entry(self._blocks[-1][0]))
        lines = text.split("\n")
        quote = "> " * self._quotes
        text = "\n".join(f"{quote}{first if i == 0 else rest}{line}".rstrip() for i, line in enumerate(lines))
        self._blocks.append((text, close))
        self._marker = ""

    def _fence(self) -> None:
        code = "".join(self._inline).strip("\n").expandtabs(4)
        self._inline = []
        if code.strip():
            marks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", code)), default=0))
            self._add(f"{marks}{self._language}\n{code}\n{marks}")

    # --- tables -------------------------------------------------------------------------------------------------------

    def _open_table(self, tag: str) -> None:
        if tag == "table":
            if not self._cells:
                self._flush()
            if len(self._tables) < _DEEPEST:
                self._tables.append([])
        elif tag == "tr" and self._tables and not self._is_nested():
            self._end_cell()
            self._tables[-1].append([])
        elif tag in ("td", "th") and self._tables and not self._is_nested():
            self._end_cell()
            if not self._tables[-1]:
                self._tables[-1].append([])
            self._cells = 1
            self._inline, self._links, self._marks = [], [], []
        else:
            self._flush()

    def _is_nested(self) -> bool:
        """Whether the table lies in a cell of another one: then it is part of that cell's text."""
        return len(self._tables) > 1

    def _shut_table(self, tag: str) -> None:
        if tag == "table":
            if self._is_nested():
                self._tables.pop()
                self._inline.append(" ")
            else:
                self._end_cell()
                self._end_table()
        elif tag == "caption" or self._is_nested():
            self._flush()
        else:
            self._end_cell()

    def _end_cell(self) -> None:
        if self._cells and self._tables:
            text = " ".join("".join(self._inline).split()).replace("|", "\\|")
            self._tables[0][-1].append(text)
        self._cells, self._inline, self._links, self._marks = 0, [], [], []

    def _end_table(self) -> None:
        if not self._tables:
            return
        rows = [row for row in self._tables.pop() if any(row)]
        width = max(map(len, rows), default=0)
        if width == 1:  # laid out with a table, no data
            for row in rows:
                self._add(row[0])
        elif rows:
            filled = [row + [""] * (width - len(row)) for row in rows]
            lines = [f"| {' | '.join(row)} |" for row in filled]
            lines.insert(1, f"|{' --- |' * width}")
            self._add("\n".join(lines))


def _is_entry(text: str) -> bool:
    return re.match(r"(?:> )*\s*(?:- |\d+\. )", text) is not None


def _language(attrs: dict[str, str]) -> str:
    found = re.search(r"(?:language|lang|highlight-source|highlight)-([\w+#]+)", attrs.get("class", ""))
    return found[1] if found else ""
