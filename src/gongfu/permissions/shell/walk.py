"""Walks the tree of a line: each simple command in its place, with what it reads and the folders it may run in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gongfu.permissions.shell.gather import Gathered, Gatherer
from gongfu.permissions.shell.grammar import parse, text_of
from gongfu.permissions.shell.reading import WORDS, Reader, dash_before, fault, named
from gongfu.permissions.shell.state import Simple, State, TooMuch
from gongfu.permissions.shell.tables import DANGEROUS_NAMES
from gongfu.permissions.shell.words import literal

if TYPE_CHECKING:
    from tree_sitter import Node

Rate: TypeAlias = Callable[["Walker", Simple], None]
Owed: TypeAlias = "Sequence[Node | None]"  # redirections; None stands for a `-` before them

_SETS = (
    r"\b(?:eval|source|read|declare|typeset|local|readonly|export|mapfile|readarray|getopts|unset|let|trap|alias)\b"
    r"|\bprintf\s+-v|(?:^|[;&|({\n])\s*\.\s|\(\("
)
_BRANCHES = frozenset(
    [
        "if_statement", "elif_clause", "else_clause", "while_statement", "for_statement", "c_style_for_statement",
        "case_statement", "case_item", "do_group",
    ]
)  # fmt: skip
_ARITHMETIC = frozenset(
    [
        "binary_expression", "unary_expression", "postfix_expression", "ternary_expression", "parenthesized_expression",
        "variable_assignment",
    ]
)  # fmt: skip
_SIMPLE = frozenset(
    [
        "command", "declaration_command", "unset_command", "test_command", "variable_assignment",
        "variable_assignments",
    ]
)  # fmt: skip
_TAKES = frozenset([*_SIMPLE, "redirected_statement"])


class Walker:
    """Walks one source; a script inside it is walked by another one with the same state."""

    __slots__ = ("_gather", "_in_control", "_owed", "_pipe", "_rate", "_reader", "_source", "state")

    def __init__(self, state: State, source: bytes, rate: Rate, *, in_control: bool = False) -> None:
        self.state = state
        self._source = source
        self._rate = rate
        self._reader = Reader(state, source, self._substituted)
        self._gather = Gatherer(self._reader)
        self._in_control = in_control
        self._owed: dict[int, Owed] = {}
        self._pipe: tuple[str, ...] = ()

    def whole(self) -> str:
        """Everything; gives why it could not be parsed."""
        root = parse(self._source)
        problem = fault(root, self._source)
        if not problem:
            self._forget()
            self.statement(root, "")
        return problem

    def script(self, text: str, *, kept: bool = False) -> None:
        """A script that a command is given. `kept`: it runs in this shell, so that where it goes counts afterwards."""
        state = self.state
        if len(text) > 64_000:
            raise TooMuch("it is too long")
        state.enter()
        places, variables, functions = state.places, dict(state.variables), dict(state.functions)
        inner = Walker(state, text.encode("utf-8", "replace"), self._rate, in_control=self._in_control)
        problem = bad_signs(text) or inner.whole()
        if not kept:
            state.places, state.variables, state.functions = places, variables, functions
        if problem:
            raise TooMuch(problem)
        state.leave()

    def _forget(self) -> None:
        """Variables that the source sets in a way which is not followed are not known."""
        text = self._source.decode("utf-8", "replace")
        state = self.state
        if re.search(_SETS, text):
            state.variables = {k: v for k, v in state.variables.items() if k == "HOME" and "HOME" not in text}
        for name in list(state.variables):
            if name in text and re.search(rf"(?<![\w${{]){name}\b", text):
                del state.variables[name]

    # --- compounds ---------------------------------------------------------------------------------------------------

    def statement(self, node: Node, stdin: str) -> None:
        """One node that is no word. `stdin` is what its commands read when they do not say."""
        self.state.enter()
        self.state.moved = None
        owed = () if node.type in _TAKES else self._owed.pop(node.id, ())
        self._kind(node, "file" if owed and stdin != "pipe" else stdin)
        if owed:
            self._lone_redirects(owed)
        self.state.leave()

    def _kind(self, node: Node, stdin: str) -> None:
        kind = node.type
        if kind in ("program", "compound_statement", "negated_command"):
            self._check_brace(node)
            self._each(node, stdin)
        elif kind == "list":
            self._list(node, stdin)
        elif kind == "pipeline":
            self._pipeline(node, stdin)
        elif kind in _SIMPLE:
            self.command(node, stdin)
        elif kind == "redirected_statement":
            self._redirected(node, stdin)
        elif kind == "subshell":
            self._apart(lambda: self._each(node, stdin))
            self.state.moved = None
        elif kind in _BRANCHES:
            self._branch(node, stdin)
        elif kind == "function_definition":
            self._function(node)
        elif kind in _ARITHMETIC:
            self._reader.visit(node)
            if re.search(r"[\[']", text_of(node)):
                raise TooMuch("an expression could run a command")
        elif kind != "comment":
            raise TooMuch("it does not fit the grammar of a shell")

    @staticmethod
    def _check_brace(node: Node) -> None:
        """A brace needs a blank behind it, and a sum may hide a substitution."""
        if re.match(rb"\{(?!\s)|\(\(.*[\['`]", node.text or b"", re.DOTALL) and node.type == "compound_statement":
            raise TooMuch("it does not fit the grammar of a shell")

    def _each(self, node: Node, stdin: str) -> None:
        for child in node.children:
            if child.is_named:
                if child.type in WORDS:
                    self._reader.words(child)
                else:
                    self.statement(child, stdin)

    def _list(self, node: Node, stdin: str) -> None:
        state = self.state
        left, sign, right = node.children[0], node.children[1].type, node.children[-1]
        if len([c for c in node.children if c.type != "comment"]) != 3:
            raise TooMuch("it does not fit the grammar of a shell")
        self.statement(left, stdin)
        after, worked = state.places, state.moved or state.places
        if sign == "&&":
            state.places = worked
        self.statement(right, stdin)
        also = state.moved or state.places
        state.places = _joined(after, state.places)
        state.moved = also if sign == "&&" else _joined(worked, also)

    def _pipeline(self, node: Node, stdin: str) -> None:
        before = self._pipe
        sources: list[str] = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            self._pipe = (*before, *sources)
            kind = "pipe" if sources else stdin
            self._apart(lambda child=child, kind=kind: self.statement(child, kind))
            sources.append(re.sub(r"\s+", " ", text_of(child)))
        self._pipe = before

    def _apart(self, walk: Callable[[], None]) -> None:
        """In a shell of its own: what it sets and where it goes is gone afterwards."""
        state = self.state
        kept = state.places, dict(state.variables), dict(state.functions)
        walk()
        state.places, state.variables, state.functions = kept
        state.moved = None

    def _branch(self, node: Node, stdin: str) -> None:
        """What may happen or not, once or often."""
        state = self.state
        before, outer = state.places, self._in_control
        self._in_control = True
        loops = node.type in ("while_statement", "for_statement", "c_style_for_statement", "do_group")
        if loops and re.search(rb"\b(?:cd|pushd|popd)\b", node.text or b""):
            state.places = (None,)
        if node.type == "for_statement":
            self._for(node, stdin)
        else:
            self._each(node, stdin)
        state.places = _joined(before, state.places)
        self._in_control = outer
        state.moved = None

    def _for(self, node: Node, stdin: str) -> None:
        """A loop over words that stand there: its body is rated for each of them, else for any word at all."""
        state = self.state
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        values = [word for value in named(node, "value") for word in self._reader.words(value)]
        known = all(w.literal and re.fullmatch(r"[\w./*?-]+", w.text) and not w.text.startswith("-") for w in values)
        name = "" if variable is None else text_of(variable)
        if re.fullmatch(DANGEROUS_NAMES, name):
            raise TooMuch("a loop sets a variable that changes what commands mean")
        if body is None or not known or not 0 < len(values) <= 8 or not self._set_once(name) or state.tainted:
            if body is None:
                raise TooMuch("it does not fit the grammar of a shell")
            self.statement(body, stdin)
            return
        for word in values:
            state.variables[name] = word.text
            if word.glob:
                state.patterns.add(name)
            else:
                state.patterns.discard(name)
            self.statement(body, stdin)
        state.variables.pop(name, None)
        state.patterns.discard(name)

    def _function(self, node: Node) -> None:
        state = self.state
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            raise TooMuch("it does not fit the grammar of a shell")
        called = text_of(name)
        state.functions[called] = body
        state.bodies[called] = self._source
        if self._rate_name(called):
            found = state.found(f"{called}()")
            found.add("unknown", why="shell_overrides", about=called)
        for redirect in named(node, "redirect"):
            self._lone_redirects([redirect])
        kept = state.variables
        state.variables = {}
        self._branch_body(body)
        state.variables = kept

    @staticmethod
    def _rate_name(name: str) -> bool:
        """Whether the name means something to the shell itself, so that another meaning would mislead."""
        return name in _MEANT

    def _branch_body(self, body: Node) -> None:
        state = self.state
        places, outer = state.places, self._in_control
        self._in_control = True
        self.statement(body, "")
        self._in_control = outer
        state.places = places

    def call(self, name: str) -> None:
        """A function that the line defines: what it does, in the folders that it is called in."""
        state = self.state
        if name in state.calls or len(state.calls) > 5:
            return
        state.calls.append(name)
        walker = Walker(state, state.bodies[name], self._rate, in_control=True)
        kept = state.variables
        state.variables = {}
        walker.statement(state.functions[name], "")
        state.variables = kept
        state.calls.pop()

    def _substituted(self, node: Node) -> None:
        pipe, self._pipe = self._pipe, ()
        outer, self._in_control = self._in_control, True

        def walk() -> None:
            self._lone_redirects([c for c in node.named_children if c.type.endswith("_redirect")])
            for child in node.named_children:
                if not child.type.endswith("_redirect"):
                    self.statement(child, "")

        self._apart(walk)
        self._pipe, self._in_control = pipe, outer

    # --- simple commands ---------------------------------------------------------------------------------------------

    def _redirected(self, node: Node, stdin: str) -> None:
        body = node.child_by_field_name("body")
        redirects: Owed = [c for c in node.named_children if c.type.endswith("_redirect")]
        if body is not None and redirects and dash_before(redirects[0], body.end_byte, self._source):
            redirects = [None, *redirects]
        redirects = [*redirects, *self._owed.pop(node.id, ())]
        if body is not None and body.type in ("list", "pipeline"):
            self._owed[_last(body).id] = redirects  # the grammar hangs them above; they belong to the last command
            self.statement(body, stdin)
            return
        if body is not None and body.type in _SIMPLE:
            self.command(body, stdin, redirects)
            return
        if body is not None:
            read = any(r is not None and text_of(r).lstrip("0").startswith("<") for r in redirects)
            self.statement(body, "file" if read else stdin)
        self._lone_redirects(redirects)

    def _lone_redirects(self, redirects: Owed) -> None:
        """Redirections without a command, or of a whole compound."""
        if redirects:
            gathered = Gathered("")
            for redirect in redirects:
                if redirect is None:
                    raise TooMuch("it does not fit the grammar of a shell")
                self._gather.redirect(redirect, gathered)
            if gathered.words:  # they belong to a command that is read already
                raise TooMuch("arguments stand behind a redirection")
            self._finish(gathered)

    def command(self, node: Node, stdin: str, redirects: Owed = ()) -> None:
        """A simple command with its redirections."""
        gathered = Gathered(stdin)
        if node.type == "variable_assignment":
            self._gather.assignment(node, gathered)
        else:
            self._gather.command(node, gathered)
        for redirect in (*redirects, *self._owed.pop(node.id, ())):
            if redirect is None:
                gathered.words.append(literal("-"))
            else:
                self._gather.redirect(redirect, gathered)
        self._finish(gathered)

    def _finish(self, gathered: Gathered) -> None:
        state = self.state
        if not self._in_control and not gathered.words and len(gathered.assigned) <= 20:
            for name, word in gathered.assigned:
                if word.plain and self._set_once(name):
                    state.variables[name] = word.text
        simple = Simple(
            words=tuple(gathered.words),
            assigned=tuple(gathered.assigned),
            redirects=tuple(gathered.redirects),
            stdin=gathered.stdin,
            here=gathered.here,
            before=self._pipe if gathered.stdin == "pipe" else (),
        )
        self._rate(self, simple)
        for later in gathered.later:
            piped = later.type == "pipeline" or not any(gathered.signs)
            pipe, self._pipe = self._pipe, (*self._pipe, " ".join(w.source for w in gathered.words))
            if piped and later.type == "pipeline":
                self._piped(later)
            else:
                self.statement(later, "pipe")
            self._pipe = pipe

    def _piped(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "pipeline":
                self._piped(child)
            elif child.type != "comment":
                self._apart(lambda child=child: self.statement(child, "pipe"))

    def holds_job(self, name: str) -> bool:
        """Whether a variable is set once in the source, to the number of a job of it."""
        text = self._source.decode("utf-8", "replace")
        return re.search(rf"\b{name}=\"?\$!", text) is not None and self._set_once(name)

    def _set_once(self, name: str) -> bool:
        text = self._source.decode("utf-8", "replace")
        return len(re.findall(rf"(?<![\w${{]){name}\b", text)) == 1 and re.search(_SETS, text) is None


def _last(node: Node) -> Node:
    """The last command of a list or a pipe."""
    while node.type in ("list", "pipeline"):
        node = [c for c in node.named_children if c.type != "comment"][-1]
    return node


def _joined(*all_places: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """The folders that may be any of several."""
    merged = tuple(dict.fromkeys(place for places in all_places for place in places))
    return merged if len(merged) <= 8 else (None,)


def bad_signs(text: str) -> str:
    """Why a text has signs in it that shells and eyes read differently; "" when it has none."""
    if re.search("[\x00-\x08\x0b-\x1f\x7f]", text):
        return "it has control characters in it"
    if not text.isascii() and re.search("[\u202a-\u202e\u2066-\u2069]", text):
        return "it has characters in it that turn its direction"
    return ""


_MEANT = frozenset(
    [
        "cd", "pushd", "popd", "eval", "exec", "source", ".", "command", "builtin", "export", "declare", "local",
        "test", "[", "set", "trap", "alias", "read", "printf", "unset", "return", "exit", "git", "sudo", "env",
    ]
)  # fmt: skip
