"""A talk, or a Markdown document, as the source of a typst document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from gongfu.app.export.markdown import about, one_line, state
from gongfu.app.export.pieces import bounded, bytes_of, suffix_of
from gongfu.app.export.talk import Answer, Done, Item, Talk, Thought, Turn, Words
from gongfu.core.messages import ImagePart
from gongfu.core.words import Language, say

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_HEAD = """#set document(title: {title})
#set page(paper: "a4", margin: (x: 16mm, y: 18mm), numbering: "1")
#set text(font: ("Noto Sans", "Noto Sans CJK SC", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei",
  "DejaVu Sans", "Libertinus Serif"), lang: {lang}, size: 10.5pt)
#set par(leading: 0.75em)
#show raw: set text(font: ("DejaVu Sans Mono", "Noto Sans Mono", "Noto Sans Mono CJK SC", "Noto Sans CJK SC"))
#show raw.where(block: true): it => block(fill: luma(246), inset: 7pt, radius: 3pt, width: 100%, it)
#show link: set text(fill: rgb("#0f766e"))
#let prompt(body) = block(fill: luma(246), inset: 8pt, width: 100%, stroke: (left: 2pt + rgb("#0f766e")), body)
#let dim(body) = text(fill: luma(110), size: 9pt, body)
"""
_WRAPS = {"strong": "strong", "em": "emph", "s": "strike"}


class Source:
    """What is being written: the text, and the pictures that it names.

    `address` gives the `data:` address that stands for the address of a picture in a document, "" to leave it out.
    """

    def __init__(self, title: str, language: Language, address: Callable[[str], str] = lambda _: "") -> None:
        self._address = address
        lang = "zh" if language == "zh" else "en"
        self.lines = [_HEAD.format(title=string(title), lang=string(lang)), "#{"]
        self.files: dict[str, bytes] = {}
        self._language: Language = language

    @property
    def text(self) -> str:
        """The whole source."""
        return "\n".join([*self.lines, "}", ""])

    def talk(self, talk: Talk) -> None:
        """Write a whole talk."""
        self.lines.append(f"heading(level: 1, {string(one_line(talk.title) or talk.session)})")
        self.lines.append(f"dim({string(about(talk, self._language))})")
        for number, turn in enumerate(talk.turns, 1):
            self._turn(turn, number)

    def markdown(self, markdown: str) -> None:
        """Write a Markdown document; raw HTML and pictures by address are left out."""
        from markdown_it import MarkdownIt
        from markdown_it.tree import SyntaxTreeNode  # both only for PDF

        reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        self.lines.extend(self._blocks(SyntaxTreeNode(reader.parse(markdown)).children))

    def picture(self, image: ImagePart, width: str = "80%") -> str:
        """The call that shows a picture; "" for one that cannot be shown."""
        suffix, data = suffix_of(image), bytes_of(image)
        if not suffix or data is None:
            return ""
        name = f"picture{len(self.files) + 1}.{suffix}"
        self.files[name] = data
        return f"image({string(name)}, width: {width})"

    # --- a talk ---

    def _turn(self, turn: Turn, number: int) -> None:
        self.lines.append("line(length: 100%, stroke: 0.5pt + luma(210))")
        asked = False
        for item in turn.items:
            if isinstance(item, Words):
                name = say("export.you_too" if item.steer else "export.you", self._language)
                head = name if asked or item.steer else f"{number}. {name}"
                asked = True
                self.lines.append(f"heading(level: 3, {string(head)})")
            self._item(item)
        if turn.reason:
            self.lines.append(f"par(dim({string(turn.reason)}))")

    def _item(self, item: Item) -> None:
        match item:
            case Words(text=text, images=images):
                self.lines.append(f"prompt({{ {spread(text)} }})")
                self._pictures(images)
            case Thought(text=text):
                head = say("export.thinking", self._language)
                self.lines.append(f"par(dim({{ strong({string(head)}); linebreak(); {spread(text.strip())} }}))")
            case Answer(text=text):
                self.markdown(text)
            case Done():
                self._call(item)

    def _call(self, call: Done) -> None:
        if call.label:
            self.lines.append(f"par(strong({string(one_line(call.label))}))")
        title = one_line(call.title) if call.title != call.name else ""
        self.lines.append(
            f"par({{ raw({string(call.name)}); {string(f' {title} ')}; dim({string(state(call, self._language))}) }})"
        )
        diff = str(call.display.get("diff") or "")
        body = diff or call.text
        if body.strip():
            self.lines.append(block(bounded(body, self._language), "diff" if diff else ""))
        self._pictures(call.images)

    def _pictures(self, images: Sequence[ImagePart]) -> None:
        self.lines.extend(shown for image in images if (shown := self.picture(image)))

    # --- Markdown ---

    def _blocks(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[str]:
        for node in nodes:
            yield self._block(node)

    def _block(self, node: SyntaxTreeNode) -> str:
        match node.type:
            case "heading":
                return f"heading(level: {node.tag[1:]}, {self._inline(node)})"
            case "paragraph":
                return f"par({self._inline(node)})"
            case "fence" | "code_block":
                return block(node.content.removesuffix("\n"), node.info.split(" ")[0] if node.info else "")
            case "bullet_list" | "ordered_list":
                items = ", ".join(self._body(child) for child in node.children)
                first = f"start: {int(node.attrs.get('start', 1))}, " if node.type == "ordered_list" else ""
                return f"{'enum' if first else 'list'}({first}{items})"
            case "blockquote":
                return f"quote(block: true, {self._body(node)})"
            case "hr":
                return "line(length: 100%, stroke: 0.5pt + luma(200))"
            case "table":
                return self._table(node)
            case _:
                return f"par({string(node.content)})" if node.content else "none"

    def _body(self, node: SyntaxTreeNode) -> str:
        return "{\n" + "\n".join(self._blocks(node.children)) + "\n}"

    def _table(self, node: SyntaxTreeNode) -> str:
        rows = [row for part in node.children for row in part.children]
        columns = max((len(row.children) for row in rows), default=1)
        cells: list[str] = []
        for number, row in enumerate(rows):
            inner = [self._inline(cell) for cell in row.children] + ["none"] * (columns - len(row.children))
            cells += [f"strong({cell})" if number == 0 else cell for cell in inner]
        return f"table(columns: {columns}, inset: 5pt, stroke: 0.5pt + luma(190), {', '.join(cells)})"

    def _inline(self, node: SyntaxTreeNode) -> str:
        pieces = [self._span(child) for child in node.children]
        return "{ " + "; ".join(pieces or ["none"]) + " }"

    def _span(self, node: SyntaxTreeNode) -> str:
        if node.type in _WRAPS:
            return f"{_WRAPS[node.type]}({self._inline(node)})"
        match node.type:
            case "inline":
                return self._inline(node)
            case "code_inline":
                return f"raw({string(node.content)})"
            case "softbreak" | "hardbreak":
                return "linebreak()" if node.type == "hardbreak" else string(" ")
            case "link":
                return f"link({string(str(node.attrs.get('href', '')) or ' ')}, {self._inline(node)})"
            case "image":
                return self._image(str(node.attrs.get("src", "")), node.content)
            case _:
                return string(node.content or "")

    def _image(self, address: str, name: str) -> str:
        found = address if address.startswith("data:") else self._address(address)
        kind, comma, data = found.partition(";base64,")
        shown = self.picture(ImagePart(media_type=kind.removeprefix("data:"), data=data)) if comma else ""
        return shown or f"emph({string(name or address)})"


def string(text: str) -> str:
    """A string literal of typst."""
    out: list[str] = []
    for char in text:
        if char in '"\\':
            out.append(f"\\{char}")
        elif char == "\n":
            out.append("\\n")
        elif char < " " or "\ud800" <= char <= "\udfff":
            out.append(" ")
        else:
            out.append(char)
    return f'"{"".join(out)}"'


def spread(text: str) -> str:
    """Plain text with its line ends kept."""
    return "; linebreak(); ".join(string(line) for line in text.splitlines()) or "none"


def block(text: str, language: str) -> str:
    """A block of code."""
    named = f", lang: {string(language)}" if language else ""
    return f"raw({string(text.expandtabs(4))}, block: true{named})"
