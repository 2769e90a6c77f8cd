"""A simple command as it is read off the tree: words, assignments, redirections, here-documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gongfu.permissions.shell.grammar import text_of
from gongfu.permissions.shell.reading import WORDS, Reader, named, no_more
from gongfu.permissions.shell.state import Redirect, TooMuch
from gongfu.permissions.shell.words import Word, quoted

if TYPE_CHECKING:
    from tree_sitter import Node

_OUTPUT = r"\"\$\([^()\"'`\[\]$]*\)\""
_PLAIN = r"(?:[\w./-]+|\"[\w./ -]*\")"
_COMPARES = (
    rf"\[ (?:! )?{_OUTPUT} (?:=|!=|-eq|-ne|-gt|-lt|-ge|-le) {_PLAIN} \]"
    rf"|\[\[ (?:! )?{_OUTPUT} (?:=|==|!=) {_PLAIN} \]\]|\[\[? (?:! )?-[zn] {_OUTPUT} \]\]?"
)
"""Output in quotes that is held against a plain word: `[[ … -gt … ]]` would take it for a sum."""


class Gathered:
    """A simple command while it is being read."""

    __slots__ = ("assigned", "here", "later", "redirects", "signs", "stdin", "words")

    def __init__(self, stdin: str) -> None:
        self.words: list[Word] = []
        self.assigned: list[tuple[str, Word]] = []
        self.redirects: list[Redirect] = []
        self.later: list[Node] = []
        self.signs: list[list[str]] = []
        self.stdin = stdin
        self.here: str | None = None

    def read(self, stdin: str, here: str | None) -> None:
        """It reads from elsewhere; the last one counts."""
        self.stdin, self.here = stdin, here


class Gatherer:
    """Reads the parts of simple commands."""

    __slots__ = ("_read",)

    def __init__(self, reader: Reader) -> None:
        self._read = reader

    def command(self, node: Node, gathered: Gathered) -> None:
        """The words of a simple command, with what stands among them."""
        if node.type == "test_command":
            self._read.visit(node)
            risky = (
                re.search(r"[\[`']|\$\(", text_of(node)[2:-2].replace("[:", "")) is not None
                and re.fullmatch(_COMPARES, text_of(node)) is None
            )
            gathered.words.append(Word(text="[[" if not risky else "", source=text_of(node), literal=not risky))
            return
        end = -1
        for child in node.children:
            kind = child.type
            if child.start_byte == end and kind in WORDS:
                raise TooMuch("it does not fit the grammar of a shell")
            end = child.end_byte if kind in WORDS else -1
            if kind == "variable_assignment":
                if gathered.words or node.type == "declaration_command":
                    gathered.words.append(self._declared(child))
                else:
                    self.assignment(child, gathered)
            elif kind.endswith("_redirect"):
                self.redirect(child, gathered)
            elif kind in WORDS:
                gathered.words.extend(self._read.words(child))
            elif kind == "comment":
                continue
            elif not child.is_named:
                gathered.words.append(Word(text=text_of(child), source=text_of(child)))
            else:
                self._read.visit(child)
                gathered.words.append(Word(text="", source=text_of(child), literal=False))

    def _declared(self, node: Node) -> Word:
        """`NAME=value` behind `export` and the like."""
        gathered = Gathered("")
        self.assignment(node, gathered)
        name, value = gathered.assigned[0]
        return Word(text=f"{name}={value.text}", source=f"{name}={value.source}", literal=value.literal)

    def assignment(self, node: Node, gathered: Gathered) -> None:
        """`NAME=value` before a command or alone."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            raise TooMuch("it does not fit the grammar of a shell")
        if name.type != "variable_name":
            self._read.visit(name)
        word = Word(text="", source="") if value is None else self._read.word(value)
        plain = text_of(name)
        if re.match(r"[A-Za-z_][A-Za-z0-9_]*(\[|$)", plain) is None:
            raise TooMuch("it does not fit the grammar of a shell")
        if name.type != "variable_name" and re.fullmatch(r"\w+\[[\w@*]*\]", plain) is None:
            word = Word(text="", source=word.source, literal=False)
        if b"+=" in (node.text or b"")[: len(plain) + 2]:
            plain += "+"
        gathered.assigned.append((plain, word))

    def redirect(self, node: Node, gathered: Gathered) -> None:
        """One redirection."""
        if node.type == "herestring_redirect":
            for child in node.named_children:
                if child.type in WORDS:
                    word = self._read.word(child)
                    gathered.redirects.append(Redirect(mark="<<<", target=word))
                    gathered.read("here", word.text + "\n" if word.plain else None)
            return
        if node.type == "heredoc_redirect":
            self._here_document(node, gathered)
            return
        descriptor = node.child_by_field_name("descriptor")
        targets = list(named(node, "destination"))
        sign = "".join(text_of(c) for c in node.children if not c.is_named)
        mark = ("" if descriptor is None else text_of(descriptor)) + sign
        if not targets:
            gathered.redirects.append(Redirect(mark=mark, target=Word(text="-" if "-" in sign else "", source="")))
            return
        gathered.redirects.append(Redirect(mark=mark, target=self._read.word(targets[0])))
        if sign.startswith("<"):
            gathered.read("file", None)
        for more in targets[1:]:  # arguments that stand behind a redirection
            gathered.words.extend(self._read.words(more))

    def _here_document(self, node: Node, gathered: Gathered) -> None:
        """Its text, and the commands that the grammar hangs below it: those behind it on its line."""
        start = body = None
        later: list[Node] = []
        for child in node.named_children:
            if child.type == "heredoc_start":
                start = text_of(child)
            elif child.type == "heredoc_body":
                body = child
            elif child.type == "file_redirect":
                self.redirect(child, gathered)
            elif child.type in WORDS:
                gathered.words.extend(self._read.words(child))
            elif child.type not in ("heredoc_end", "file_descriptor"):
                later.append(child)
        if start is None:
            raise TooMuch("it does not fit the grammar of a shell")
        text = "" if body is None else text_of(body)
        expands = re.search(r"[\"'\\]", start) is None
        known = not expands or ("$" not in text and "`" not in text and "\\" not in text)
        if expands and body is not None:
            self._expand(body)
        if b"<<-" in (node.text or b"")[:6]:
            text = re.sub(r"(?m)^\t+", "", text)
        word = Word(text=text, source=quoted(text) if known else "$" + quoted(text), literal=known)
        gathered.redirects.append(Redirect(mark="<<", target=word))
        gathered.read("here", text if known else None)
        gathered.later.extend(later)
        if later:
            gathered.signs.append([c.type for c in node.children if c.type in ("&&", "||", "|", "|&")])

    def _expand(self, body: Node) -> None:
        """What runs inside a here-document; the grammar knows no substitution in backquotes there."""
        self._read.visit(body)
        at, whole = 0, body.text or b""
        for child in body.named_children:
            if child.type not in ("heredoc_content", "string_content"):
                no_more(whole[at : child.start_byte - body.start_byte].decode("utf-8", "replace"))
                at = child.end_byte - body.start_byte
        no_more(whole[at:].decode("utf-8", "replace"))
