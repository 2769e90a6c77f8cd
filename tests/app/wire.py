"""Holds a receipt against the bytes of the request that it describes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from gongfu.context.receipt import Receipt
from gongfu.core.messages import CallPart, Message, ResultPart, TextPart
from gongfu.core.told import Included


def body_texts(value: Any) -> Iterator[str]:
    """All strings of a decoded body, in its order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from body_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from body_texts(item)


def wire_messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a body in any dialect, without the system prompt, and without cache marks."""
    messages = body.get("messages", body.get("input", []))
    return [_plain(m) for m in messages if m.get("role") not in ("system", "developer")]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if k != "cache_control"}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def system_text(body: dict[str, Any]) -> str:
    """System prompt and standing text of a body in any dialect."""
    messages = body.get("messages", body.get("input", []))
    inside = [m["content"] for m in messages if m.get("role") in ("system", "developer")]
    return "\n".join(body_texts([body.get("system", ""), body.get("instructions", ""), inside]))


def tool_names(body: dict[str, Any]) -> list[str]:
    """The names of the tools in the order of the wire."""
    return [t.get("name") or t["function"]["name"] for t in body.get("tools", [])]


def unit_texts(item: Included, transcript: Sequence[Message]) -> list[str]:
    """What a unit of the transcript must show in full: words, names of calls, results."""
    at = int(item.id[1:])
    group = [transcript[at]]
    if group[0].calls:
        group.append(transcript[at + 1])
    texts: list[str] = []
    for part in (p for message in group for p in message.parts):
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, CallPart):
            texts.append(part.name)
        elif isinstance(part, ResultPart) and item.level == "full":
            texts.append(part.text)
    return texts


def units_of(items: Sequence[Included]) -> list[Included]:
    """Those that stand for messages of the transcript."""
    return [item for item in items if item.id[:1] == "u" and item.id[1:].isdecimal()]


def covers(id: str, at: int) -> bool:
    """Whether an omitted id ("u3", "u3..u9") names the unit that starts at message `at`."""
    first, _, last = id.removeprefix("u").partition("..u")
    return first.isdecimal() and int(first) <= at <= int(last or first)


def check_receipt(receipt: Receipt, raw: bytes, body: dict[str, Any], transcript: Sequence[Message]) -> None:
    """Recompute from the bytes all that can be."""
    assert receipt.bytes == len(raw)
    assert receipt.prefix == hashlib.sha256(raw).hexdigest()[:16]
    assert receipt.raw == sum(item.tokens for item in receipt.included)
    assert receipt.raw <= receipt.estimate <= receipt.budget
    assert receipt.budget + receipt.reserve < receipt.window
    said = "\0".join(body_texts(wire_messages(body)))
    position = 0
    for item in units_of(receipt.included):
        for text in unit_texts(item, transcript):
            found = said.find(text.strip(), position)
            assert found >= 0, (receipt.number, item, text[:100])
            position = found
    system = system_text(body)
    for item in receipt.included:
        if item.id.startswith("rule:"):
            name = item.id.removeprefix("rule:")
            assert system.count(f'path="{name}"') + said.count(f'path="{name}"') == 1, (receipt.number, name)
    for item in receipt.omitted:
        if item.id.startswith("rule:"):
            assert f'path="{item.id.removeprefix("rule:")}"' not in system + said
