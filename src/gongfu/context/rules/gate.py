"""The gate on the bytes of a request: every mandatory envelope exactly once, an excluded one never."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import msgspec

from gongfu.context.rules.envelope import Envelope
from gongfu.core.errors import Refusal

_HIDDEN = re.compile(rb"\\u00[2-7]|\\/")  # plain characters written as escapes: then only reading the JSON tells


def check_body(body: bytes, mandatory: Sequence[Envelope], excluded: Sequence[Envelope] = ()) -> None:
    """Raises Refusal RULES_NOT_DELIVERED when `body`, as it would be sent, does not hold what it must.

    Counted is the whole text of an envelope and its first line, in the strings of the JSON, however it is escaped.
    """
    if not mandatory and not excluded:
        return
    hidden = _HIDDEN.search(body) is not None
    if not hidden and _problem(_in_bytes(body), mandatory, excluded) is None:
        return
    problem = _problem(_in_strings(body), mandatory, excluded)
    if problem is not None:
        envelope, count = problem
        raise Refusal("rules.not_delivered", rule=envelope.id.removeprefix("rule:"), count=count)


def _problem(
    count: Callable[[str], int], mandatory: Sequence[Envelope], excluded: Sequence[Envelope]
) -> tuple[Envelope, int] | None:
    for envelope in mandatory:
        whole, begun = count(envelope.text), count(envelope.opening)
        if whole != 1 or begun != 1:
            return envelope, whole if whole != 1 else begun
    for envelope in excluded:
        if begun := count(envelope.opening):
            return envelope, begun
    return None


def _in_bytes(body: bytes) -> Callable[[str], int]:
    return lambda text: body.count(msgspec.json.encode(text)[1:-1])


def _in_strings(body: bytes) -> Callable[[str], int]:
    try:
        strings = list(_strings(msgspec.json.decode(body)))
    except (msgspec.DecodeError, RecursionError):
        strings = [body.decode("utf-8", "replace")]
    return lambda text: sum(s.count(text) for s in strings)


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
