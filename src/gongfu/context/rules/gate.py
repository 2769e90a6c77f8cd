"""The gate on the bytes of a request: every mandatory envelope exactly once, an excluded one never."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from gongfu.context.rules.envelope import Envelope
from gongfu.core.errors import Refusal

_HIDDEN = re.compile(rb"\\u00[2-7]|\\/")  # plain characters written as escapes: then only reading the JSON tells


def check_body(body: bytes, mandatory: Sequence[Envelope], excluded: Sequence[Envelope] = ()) -> None:
    """Raises Refusal RULES_NOT_DELIVERED when `body`, as it would be sent, does not hold what it must.

    Counted are first lines of envelopes, in the strings of the JSON, however they are escaped; behind that of a
    mandatory one its whole text must follow. The envelopes are of one snapshot.
    """
    if not mandatory and not excluded:
        return
    if _HIDDEN.search(body) is None and _problem(body, mandatory, excluded) is None:
        return
    problem = _problem(_plainly(body), mandatory, excluded)
    if problem is not None:
        envelope, count = problem
        raise Refusal("rules.not_delivered", rule=envelope.id.removeprefix("rule:"), count=count)


def _problem(body: bytes, mandatory: Sequence[Envelope], excluded: Sequence[Envelope]) -> tuple[Envelope, int] | None:
    mark = (*mandatory, *excluded)[0].opening.partition(" ")[0]
    texts = {_escaped(e.opening): _escaped(e.text) for e in mandatory}
    whole: Counter[bytes] = Counter()
    begun: Counter[bytes] = Counter()
    for start in _places(body, _escaped(f"{mark} ")):
        opening = body[start : body.find(b">", start) + 1]  # an opening has no other: it is escaped within
        begun[opening] += 1
        whole[opening] += opening in texts and body.startswith(texts[opening], start)
    for envelope in mandatory:
        key = _escaped(envelope.opening)
        if begun[key] != 1 or whole[key] != 1:
            return envelope, begun[key] if begun[key] != 1 else 0
    for envelope in excluded:
        if count := begun[_escaped(envelope.opening)]:
            return envelope, count
    return None


def _escaped(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]


def _places(body: bytes, wanted: bytes) -> Iterator[int]:
    at = body.find(wanted)
    while at >= 0:
        yield at
        at = body.find(wanted, at + 1)


def _plainly(body: bytes) -> bytes:
    """The strings of the JSON, escaped as little as can be; what is no JSON counts as one string."""
    try:
        return msgspec.json.encode(list(_strings(msgspec.json.decode(body))))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return msgspec.json.encode(body.decode("utf-8", "replace"))


def _strings(root: Any) -> Iterator[str]:
    waiting: list[Any] = [root]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            yield from fields
            waiting.extend(fields.values())
        elif isinstance(value, list):
            waiting.extend(cast("list[Any]", value))
