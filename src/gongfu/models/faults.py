"""What an endpoint's error means. The wordings are data: see `fault_table`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, cast

import msgspec

from gongfu.core.errors import (
    BadRequest,
    ContentFilter,
    Overflow,
    Overloaded,
    ProviderFault,
    Refused,
    Throttled,
    Unauthorized,
)
from gongfu.models.fault_table import CODES, RULES, SETTLED, STATUSES, TYPES

_KINDS: dict[str, type[ProviderFault]] = {
    fault.kind: fault for fault in (Unauthorized, Throttled, Overloaded, Refused, Overflow, BadRequest, ContentFilter)
}
_MESSAGES = ("message", "msg", "status_msg", "detail", "error_description", "reason", "title", "error_msg")
_LABELS = ("code", "type", "status", "status_code", "error_code", "param")
_DETAIL = 300
_TEXT = 4000
_DEPTH = 6


def fault_of(status: int, headers: Mapping[str, str], body: bytes, model: str) -> ProviderFault:
    """The fault that an HTTP answer with an error status stands for.

    `headers` have lower-case names. `retry_after` is filled from them or from the body's words; `detail` is the
    server's message, shortened and without keys.
    """
    error = _parse(body)
    messages, labels = _words(error)
    if 300 <= status < 400:
        messages.insert(0, f"base_url is out of date: it moved to {headers.get('location', 'elsewhere')}")
    kind = _classify(status, messages, labels)
    return _fault(kind, messages, labels, status=status, retry=retry_after(headers, error), model=model)


def fault_in_stream(error: dict[str, Any] | str, model: str) -> ProviderFault:
    """The fault that an error told inside a 200 answer stands for (`{"message": …, "type": …}` or plain words)."""
    messages, labels = _words(_nested(error) if isinstance(error, str) else error)
    status = next((int(label) for label in labels if label.isdigit() and 400 <= int(label) <= 599), 0)
    kind = _classify(status, messages, labels)
    return _fault(kind, messages, labels, status=status or None, retry=retry_after({}, error), model=model)


def redact(text: str) -> str:
    """What a server said, without whatever could be a key or a password."""
    from gongfu.core.secrets import redact as redacted  # only when something went wrong

    return redacted(text, wary=True)


def _fault(
    kind: str, messages: list[str], labels: list[str], *, status: int | None, retry: float | None, model: str
) -> ProviderFault:
    words = " ".join(": ".join(dict.fromkeys(messages)).split()) or " ".join(labels)
    detail = redact(words[:_TEXT])
    if len(detail) > _DETAIL:
        detail = detail[: _DETAIL - 1].rstrip() + "…"
    fault = _KINDS[kind](detail or "no explanation", status=status, retry_after=retry, model=model)
    fault.said = redact(" ".join([*messages, *labels])[:_TEXT])
    return fault


def _classify(status: int, messages: list[str], labels: list[str]) -> str:
    text = " ".join([*messages, *labels])[:_TEXT].lower()
    if status in SETTLED:
        return STATUSES[status]
    said = next((kind for kind, statuses, rule in _rules() if _holds(status, statuses) and rule.search(text)), "")
    if status == 401:
        return said if said == "refused" else "unauthorized"
    if said:
        return said
    for label in labels:
        if kind := CODES.get(label) or (TYPES.get(label.lower()) if not status else None):
            return kind
    return _by_status(status, text)


def _holds(status: int, statuses: tuple[int, ...]) -> bool:
    return not statuses or not status or status in statuses


def _by_status(status: int, text: str) -> str:
    if status == 403 and text.startswith("an html page"):
        return "refused"
    if status in STATUSES:
        return STATUSES[status]
    if 300 <= status < 400:
        return "refused"
    return "bad_request" if 400 <= status < 500 else "overloaded"


def _parse(body: bytes) -> Any:
    text = body.decode("utf-8", "replace").strip()
    if text[:1] in ("{", "["):
        return _nested(text)
    if text[:1] == "<":
        return _page(text)
    return text


def _page(text: str) -> str:
    title = re.search(r"<title[^>]*>(.*?)</title>", text[:20000], re.IGNORECASE | re.DOTALL)
    plain = (
        title[1]
        if title
        else re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text[:20000], flags=re.IGNORECASE | re.DOTALL)
    )
    return f"an HTML page: {' '.join(plain.split())[:200]}"


def _nested(text: str) -> Any:
    """What a string holds: JSON inside it, or after some words ("400 {…}"), else the string itself."""
    start = min((i for i in (text.find("{"), text.find("[{")) if i >= 0), default=-1)
    if start < 0:
        return text
    try:
        value = msgspec.json.decode(text[start:])
    except (msgspec.DecodeError, RecursionError):
        return text
    return [text[:start].strip(" :"), value] if start and text[:start].strip() else value


def _words(error: Any) -> tuple[list[str], list[str]]:
    """Messages and labels (codes, types) found in an error body, outer ones first."""
    messages: list[str] = []
    labels: list[str] = []
    for is_label, text in _walk(error, _DEPTH):
        if text:
            (labels if is_label else messages).append(text)
    return messages, labels


def _walk(value: Any, depth: int) -> Iterator[tuple[bool, str]]:
    if isinstance(value, str):
        yield False, value[:_TEXT]
    elif isinstance(value, list) and depth:
        for item in cast("list[Any]", value)[:8]:
            yield from _walk(item, depth - 1)
    elif isinstance(value, dict) and depth:
        yield from _walk_fields(cast("dict[str, Any]", value), depth)


def _walk_fields(fields: dict[str, Any], depth: int) -> Iterator[tuple[bool, str]]:
    for name in _MESSAGES:
        found = fields.get(name)
        if isinstance(found, str):
            inner = _nested(found)
            yield from _walk(inner, depth - 1)
        elif found:
            yield from _walk(found, depth - 1)
    for name in _LABELS:
        found = fields.get(name)
        if isinstance(found, str | int) and not isinstance(found, bool):
            yield True, str(found)
    for name in ("error", "errors", "base_resp", "metadata", "raw", "response", "innererror", "details"):
        found = fields.get(name)
        yield from _walk(_nested(found) if isinstance(found, str) else found, depth - 1)


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def retry_after(headers: Mapping[str, str], body: Any = None) -> float | None:
    """Seconds to wait as a server asks for: `retry-after-ms`, `retry-after` (seconds or a date), or its words."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (seconds := _number(headers.get(name, ""))) is not None:
            return seconds * unit
    if date := headers.get("retry-after", ""):
        return _until(date, headers.get("date", ""))
    reset = _number(headers.get("x-ratelimit-reset", ""))
    if reset is not None and reset > 1e12:  # OpenRouter: milliseconds since 1970
        return max(0.0, reset / 1000 - time.time())
    return _spoken(body)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None


def _until(date: str, now: str) -> float | None:
    from email.utils import parsedate_to_datetime  # only for servers that name a date

    try:
        start = parsedate_to_datetime(now).timestamp() if now else time.time()
        return max(0.0, parsedate_to_datetime(date).timestamp() - start)
    except (TypeError, ValueError):
        return None


def _spoken(body: Any) -> float | None:
    text = body if isinstance(body, str) else msgspec.json.encode(body).decode() if body else ""
    found = _wait_words().search(text[:_TEXT])
    if not found:
        return None
    if found["plain"]:
        return _number(found["plain"])
    pairs = re.findall(r"([\d.]+)\s*(ms|[hms])", found["span"].lower())
    return sum((_number(amount) or 0.0) * _UNITS[unit] for amount, unit in pairs) or None


@cache
def _wait_words() -> re.Pattern[str]:
    span = r"(?P<span>(?:[\d.]+\s*(?:ms|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?|h)(?![a-z])\s*)+)"
    return re.compile(
        rf"(?:(?:try again|retry|reset)\w*\s+(?:in|after)\s+|\"retrydelay\":\s*\"){span}"
        r"|\"(?:retry_after|retry_after_seconds|resets_in_seconds)\":\s*\"?(?P<plain>[\d.]+)",
        re.IGNORECASE,
    )


@cache
def _rules() -> tuple[tuple[str, tuple[int, ...], re.Pattern[str]], ...]:
    return tuple((kind, statuses, re.compile(pattern)) for kind, statuses, pattern in RULES)
