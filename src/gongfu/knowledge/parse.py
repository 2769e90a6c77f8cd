"""The bytes of a file to what is known of it, by the parser of its language; bounded, and never with an exception."""

from __future__ import annotations

import codecs
import hashlib
import re
import sys

from gongfu.knowledge.languages import PYTHON, refine, why_skipped, why_skipped_by_name
from gongfu.knowledge.model import VERSION, Facts
from gongfu.workspace.encodings import detect

DIGEST = 20
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_TAG = {PYTHON: f"{VERSION}.{sys.version_info[0]}.{sys.version_info[1]}"}


def content_key(name: str, language: str, raw: bytes) -> bytes:
    """The digest that facts are kept by: of the bytes, the language, what reads it, and what the name tells."""
    hashed = hashlib.blake2b(raw, digest_size=DIGEST)
    hashed.update(f"\0{language}\0{_TAG.get(language, VERSION)}\0{why_skipped_by_name(name)}".encode())
    return hashed.digest()


def parse(name: str, language: str, raw: bytes) -> Facts:
    """What is known of a file by its content; `Facts.problem` says why nothing is.

    Problems: "huge", "generated", "minified", "deep", "binary", "grammar" (its package is not installed), "failed".
    """
    language = refine(language, raw)
    problem = why_skipped(name, raw)
    if problem:
        return Facts(language=language, lines=raw.count(b"\n"), problem=problem)
    text = _text(language, raw)
    if text is None:
        return Facts(language=language, lines=0, problem="binary")
    try:
        return _read(language, text)
    except (RecursionError, MemoryError, ValueError):
        return Facts(language=language, lines=raw.count(b"\n"), problem="failed")


def _read(language: str, text: str) -> Facts:
    if language == PYTHON:
        from gongfu.knowledge.python import read_python  # a parser is loaded with the first file that needs it

        return read_python(text)
    from gongfu.knowledge.syntax import has_grammar, read_syntax  # the same

    if not has_grammar(language):
        return Facts(language=language, lines=text.count("\n"), problem="grammar")
    return read_syntax(language, text)


def _text(language: str, raw: bytes) -> str | None:
    """The text with line feeds only; a Python source says itself in which encoding it is. None for no text."""
    codec = _declared(raw) if language == PYTHON else ""
    if codec:
        try:
            return _plain(raw.decode(codec))
        except (UnicodeError, LookupError):  # not what it says, or nothing that text is written in
            pass
    encoding = detect(raw)
    return None if encoding is None else _plain(encoding.decode(raw))


def _plain(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text  # stray bytes are no text


def _declared(raw: bytes) -> str:
    """The encoding that one of the first two lines names, in Python's spelling; "" for none that is known."""
    for line in raw[:1_000].split(b"\n")[:2]:
        match = _CODING.match(line)
        if match is not None:
            try:
                name = codecs.lookup(match[1].decode("ascii")).name
            except (LookupError, UnicodeDecodeError):
                return ""
            return name
    return ""
