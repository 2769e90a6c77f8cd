"""What is known of one file from its text alone: its symbols, what it imports, and what it uses of others."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

VERSION: Final = 1
"""Goes up with every change of what is found in a file: what older versions stored is found anew."""

Kind: TypeAlias = Literal[
    "function", "method", "class", "struct", "enum", "interface", "trait", "type", "constant", "variable", "field",
    "macro", "module",
]  # fmt: skip
CALLABLE: Final = frozenset(["function", "method", "macro"])
TYPES: Final = frozenset(["class", "struct", "enum", "interface", "trait", "type"])


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A small value that there are many of."""


class Symbol(Record, frozen=True):
    """Something with a name. `qualified` is the name inside its file (`Class.method`), lines count from 1.

    `signature` is what follows the name (parameters, result) or the value of a constant, `doc` the first paragraph of
    its comment. `types` tells the type of variables, "name" or "self.name", as far as it is written down; `bases` are
    the names of what it is derived from. `declared` says that its body is elsewhere.
    """

    name: str
    qualified: str
    kind: Kind
    line: int
    end: int
    signature: str = ""
    doc: str = ""
    parent: int = -1
    bases: tuple[str, ...] = ()
    types: dict[str, str] = {}
    public: bool = True
    declared: bool = False


class Use(Record, frozen=True):
    """A name that is used: `receiver` is what stands before the dot (or `::`, `->`), `inside` the index of the
    innermost symbol around it (-1: the file itself), `call` whether it is called."""

    name: str
    receiver: str
    line: int
    inside: int
    call: bool


class Import(Record, frozen=True):
    """`alias` stands for `name` of `module` ("": the module itself, "*": all of it). `module` is as it is written,
    relative dots included."""

    alias: str
    module: str
    name: str
    line: int


class Facts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file. `problem` tells what kept it from being read whole; `errors` counts the places that did not parse."""

    language: str
    lines: int
    doc: str = ""
    symbols: tuple[Symbol, ...] = ()
    uses: tuple[Use, ...] = ()
    imports: tuple[Import, ...] = ()
    errors: int = 0
    problem: str = ""


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Facts)


def pack(facts: Facts) -> bytes:
    """Facts as bytes."""
    return _ENCODER.encode(facts)


def unpack(data: bytes) -> Facts:
    """What `pack` gave. msgspec.DecodeError for anything else."""
    return _DECODER.decode(data)


def first_paragraph(text: str, most: int = 400) -> str:
    """The first paragraph of a comment in one line, bounded."""
    lines: list[str] = []
    for line in text.strip().splitlines():
        if not line.strip():
            break
        lines.append(line.strip())
    joined = " ".join(lines)
    return joined if len(joined) <= most else joined[: most - 1] + "…"


def one_line(text: str, most: int = 200) -> str:
    """A piece of source in one line, bounded."""
    joined = " ".join(text.split())
    return joined if len(joined) <= most else joined[: most - 1] + "…"
