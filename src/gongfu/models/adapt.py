"""What a server's complaint says of it: how it must be asked instead. Pure; the adapters ask again.

Tables (`quirks/*.json`) know the servers that are known. Any other OpenAI-compatible address may refuse a field, a
role or an order that the rest of the world takes, and says so in words. Those words are data here too.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.errors import BadRequest, ProviderFault, Refused
from gongfu.core.specs import ModelInfo
from gongfu.models.complaint_table import COMPLAINTS, EMPTY_CONTENT, NOT_TAKEN, Complaint
from gongfu.models.quirks import Quirks

_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_ESSENTIAL = {"model", "messages", "input", "system", "instructions", "tools", "stream"}
_FREE = {"temperature", "top_p"}  # asked for by the person; without them a model still answers

_NEXT_EMPTY = {"empty": "null", "null": "empty", "omit": "empty"}


class Change(Base, frozen=True):
    """How the model is asked from now on, and what that means, to be said behind "asking again"."""

    info: ModelInfo
    quirks: Quirks
    about: str


def adapted(info: ModelInfo, quirks: Quirks, fault: ProviderFault, body: bytes) -> Change | None:
    """How to ask instead after `fault` in answer to `body`; None when its words say nothing that would change it."""
    if not isinstance(fault, BadRequest | Refused) or fault.status in (401, 402, 403):
        return None
    text = (fault.said or fault.detail).lower()
    for pattern, complaint in _complaints():
        if pattern.search(text):
            told = replace(info, **complaint.model), replace(quirks, **complaint.table)
            if told != (info, quirks):
                return Change(info=told[0], quirks=told[1], about=complaint.about)
    if isinstance(fault, Refused):
        return None
    if _any_of(EMPTY_CONTENT).search(text):
        changed = replace(quirks, empty_content=_NEXT_EMPTY[quirks.empty_content])
        return Change(info=info, quirks=changed, about="with empty content written otherwise")
    return _by_field(info, quirks, text, body)


def _by_field(info: ModelInfo, quirks: Quirks, text: str, body: bytes) -> Change | None:
    """The complaint names a field of the body: leave that out, or send it otherwise."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return None
    refused = _any_of(NOT_TAKEN).search(text) is not None
    for name in fields:
        if name in _ESSENTIAL or not _mentions(text, name):
            continue
        if name in _LIMITS:
            return _other_limit(info, quirks, text, name, bytes(fields[name]), refused=refused)
        if refused or name in _FREE:
            return Change(
                info=info, quirks=replace(quirks, leave_out=(*quirks.leave_out, name)), about=f"without {name}"
            )
    return None


def _other_limit(info: ModelInfo, quirks: Quirks, text: str, name: str, sent: bytes, *, refused: bool) -> Change | None:
    """Another name for the output limit where one is named, a lower limit where a number says so, or none."""
    other = next((n for n in ("max_completion_tokens", "max_tokens") if n != name and _mentions(text, n)), "")
    if refused and name != quirks.limit:
        return Change(info=info, quirks=replace(quirks, leave_out=(*quirks.leave_out, name)), about=f"without {name}")
    if refused:
        following = other or ("max_tokens" if name == "max_completion_tokens" else "")
        return Change(
            info=info,
            quirks=replace(quirks, limit=following, limit_always=quirks.limit_always if following else 0),
            about=f"with {following}" if following else f"without {name}",
        )
    if "context" in text or not sent.isdigit():  # the prompt is what is too long
        return None
    lower = [n for n in map(int, re.findall(r"(?<![\w.])\d{2,9}(?![\w.]*\w)", text)) if 16 <= n < int(sent)]
    if not lower:
        return None
    return Change(info=replace(info, max_output=max(lower)), quirks=quirks, about=f"for at most {max(lower)} tokens")


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w]){re.escape(name)}(?!\w)", text) is not None


@cache
def _complaints() -> tuple[tuple[re.Pattern[str], Complaint], ...]:
    return tuple((re.compile("|".join(c.words)), c) for c in COMPLAINTS)


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(words))
