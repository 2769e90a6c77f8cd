"""Finds keys, tokens and passwords in a text and takes them out: the one place that knows how they look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gongfu.core.base import Base
from gongfu.core.secret_labels import named, stands_for
from gongfu.core.secret_shapes import COMMANDS, LABELLED, TOKENS, URLS, WARY, Row

_LEAST = 6  # characters of a known key: a shorter one would take common words out of a text
_BLOCK = 24_000  # characters between the beginning and the end of a key in a block
_PASSES = 6

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_GAP = r"(?:\s|\\+[rn]|[\"'+,|>→:]|(?<![A-Za-z0-9+/])\d{1,6}(?=[\t →|:]))"
_LINE = r"[A-Z][A-Za-z\-]{2,20}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{20,}|(?<=\s)[A-Za-z0-9+/=]{4,}(?=\r?\n|\\n|\Z)"
_BODY = rf"(?:{_GAP}{{0,12}}(?:{_LINE}))*(?:{_GAP}{{0,12}}[A-Za-z0-9+/=]+\Z)?"


class Span(Base, frozen=True):
    """A secret is text[start:end]; `kind` is a short name of what it is."""

    start: int
    end: int
    kind: str


def find(text: str) -> list[Span]:
    """The secrets in `text` in their order, without overlaps. Takes time linear in its length."""
    low = text.replace("İ", "i").lower()  # that letter alone gets longer by it
    spans = [*_rows((*TOKENS, *URLS, *COMMANDS), text, text), *_blocks(text), *_rows(LABELLED, low, text)]
    spans += [Span(start=start, end=end, kind=kind) for start, end, kind in named(text, low)]
    return _joined(spans)


def looks_secret(text: str) -> bool:
    """Whether a token, a private key or the login of an address stands in `text`, known by its own looks alone.

    For what is passed on or not: what may only stand for a secret counts, too.
    """
    return ("PRIVATE KEY-----" in text and re.search(_BEGIN, text) is not None) or any(
        any(hint in text for hint in hints) and re.search(pattern, text) is not None
        for rows in (TOKENS, URLS)
        for _, hints, pattern in rows
    )


def redact(text: str, *, wary: bool = False) -> str:
    """`text` with each secret replaced by a mark that names its kind, such as "[secret github token]".

    Not a character of a secret stays: the first ones of many tokens are the same for all, and the last ones of a short
    password are half of it. A text without secrets comes back as it is, and so does one that was redacted before.
    `wary` is for the words of a server that was sent a key: whatever could be one goes, even if it may be a digest.
    """
    for _ in range(_PASSES):  # what stood around a secret may look like one by now; nearly always once is enough
        spans = find(text)
        if not spans:
            break
        text = _without(text, spans)
    return _without(text, _joined(list(_rows(WARY, text, text)))) if wary else text


class Redactor:
    """Redacts like `redact`, and takes out the secrets that are known word for word, however they look."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        """`known` are whole keys; those shorter than 6 characters are passed over."""
        from json import dumps
        from urllib.parse import quote

        keys = {key.strip() for key in known if len(key.strip()) >= _LEAST}
        forms = {form for key in keys for form in (key, dumps(key)[1:-1], quote(_whole(key), safe=""))}
        self._known = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        for key in self._known:
            text = text.replace(key, "[secret key]")
        return redact(text)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _rows(rows: Iterable[Row], searched: str, text: str) -> Iterator[Span]:
    for kind, hints, pattern in rows:
        for hint in hints:  # a loop, as most of the time goes here
            if hint in searched:
                break
        else:
            continue
        for match in re.finditer(pattern, searched):
            start, end = match.span(1 if match.re.groups else 0)
            if match.re.groups or not _stands_for_token(text[start:end]):
                value = text[start:end]
                if match.re.groups and stands_for(value):
                    continue
                yield Span(start=start, end=end, kind=kind)


def _stands_for_token(value: str) -> bool:
    """Whether a token is one of a manual: crosses behind its prefix, or words such as "your" between hyphens."""
    body = value[-12:]
    return len(set(body)) <= 2 or bool(
        re.search(r"(?i)(?:\A|[\-_])(?:your|example|placeholder|x{4,}|insert|replace)(?:[\-_]|\Z)", value[:200])
    )


def _blocks(text: str) -> Iterator[Span]:
    """Private keys in blocks, also where the beginning or the end was cut off."""
    if "PRIVATE KEY" not in text:
        return
    done = 0
    begins = [match.span() for match in re.finditer(_BEGIN, text)]
    ends = [match.span() for match in re.finditer(_END, text)]
    at = 0
    for number, (start, head) in enumerate(begins):
        following = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        while at < len(ends) and ends[at][0] < start:
            yield from _headless(text, done, *ends[at])
            done = ends[at][1]
            at += 1
        if at < len(ends) and ends[at][0] <= min(following, head + _BLOCK):
            stop = ends[at][1]
            if re.search(r"[A-Za-z0-9+/=]{12,}", text[head : ends[at][0]]):
                yield Span(start=start, end=stop, kind="private key")
            done, at = stop, at + 1
            continue
        body = re.compile(_BODY).match(text, head, following)
        if body and body.end() > head:
            yield Span(start=start, end=body.end(), kind="private key")
            done = body.end()
    for span in ends[at:]:
        yield from _headless(text, done, *span)
        done = span[1]


def _headless(text: str, done: int, start: int, end: int) -> Iterator[Span]:
    """The rest of a key whose beginning is not there: lines of its letters before the end mark."""
    first = start
    floor = max(done, start - _BLOCK)
    for line in reversed(re.split(r"(?<=\n)|(?<=\\n)", text[floor:start])):
        bare = line.replace("\\n", "").replace("\\r", "").strip(" \t\r\n\"'")
        if bare and not re.fullmatch(r"(?:\d{1,6}[\t →|:]+)?[A-Za-z0-9+/=]+|[A-Z][A-Za-z\-]{2,20}: [^\n]{1,80}", bare):
            first -= _tail(line)
            break
        first -= len(line)
    if re.search(r"[A-Za-z0-9+/=]{12,}", text[first:start]):
        yield Span(start=first, end=end, kind="private key")


def _tail(line: str) -> int:
    """How many characters of a line belong to a key that began in it, behind something else."""
    bare = line.replace("\\n", "  ").rstrip()
    at = len(bare)
    while at and (bare[at - 1].isalnum() or bare[at - 1] in "+/="):
        at -= 1
    return len(line) - at if len(bare) - at >= 20 else 0


def _joined(spans: list[Span]) -> list[Span]:
    """Sorted, those that overlap made one; the kind is that of the longest."""
    if len(spans) < 2:
        return spans
    spans.sort(key=lambda span: (span.start, -span.end))
    joined = [spans[0]]
    for span in spans[1:]:
        last = joined[-1]
        if span.start >= last.end:
            joined.append(span)
            continue
        kind = span.kind if span.end - span.start > last.end - last.start else last.kind
        joined[-1] = Span(start=last.start, end=max(last.end, span.end), kind=kind)
    return joined


def _without(text: str, spans: Iterable[Span]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], f"[secret {span.kind}]")
        at = span.end
    return "".join((*parts, text[at:]))
