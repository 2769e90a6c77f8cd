"""What a server wants to know of the person while a call of it runs: asked through the call, one field at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, cast

from gongfu.core.words import say
from gongfu.plugins.mcp.offers import clean, line

if TYPE_CHECKING:
    from mcp_types import ElicitRequestParams, ElicitResult

By: TypeAlias = Literal["person", "policy", "timeout", "cancel"]
Value: TypeAlias = str | int | float | bool | list[str] | None

FIELDS: Final = 12
SECONDS: Final = 600.0
_TRIES: Final = 3
_YES: Final = ("yes", "no")


class Asker(Protocol):
    """What can ask the person: the context of a call."""

    async def ask(
        self, text: str, /, *, options: tuple[str, ...] = (), default: str = "", seconds: float | None = None
    ) -> tuple[str, By]: ...


async def elicit(asker: Asker, server: str, params: ElicitRequestParams) -> ElicitResult:
    """Ask the person what the server wants to know. Without a person there it is declined."""
    from mcp_types import ElicitResult

    head = f"{say('mcp.asks', server=line(server, 60))} {clean(params.message, 1_000)}"
    if params.mode == "url":
        answer, by = await asker.ask(f"{head}\n{line(params.url, 1_000)}", options=_YES, default="no", seconds=SECONDS)
        return ElicitResult(action="accept" if by == "person" and answer == "yes" else _without(by))
    schema = params.requested_schema
    fields = cast("Mapping[str, Any]", schema.get("properties") or {})
    required = set(cast("list[str]", schema.get("required") or []))
    if len(fields) > FIELDS:
        return ElicitResult(action="decline")
    if not fields:
        answer, by = await asker.ask(head, options=_YES, default="no", seconds=SECONDS)
        return ElicitResult(action="accept", content={}) if by == "person" and answer == "yes" else _no(by)
    content: dict[str, Value] = {}
    for name, field in fields.items():
        given = cast("dict[str, Any]", field) if isinstance(field, dict) else {}
        value, by = await _field(asker, head, name, given, needed=name in required)
        if by != "person":
            return _no(by)
        if value is not None:
            content[name] = value
    return ElicitResult(action="accept", content=content)


def _no(by: By) -> ElicitResult:
    from mcp_types import ElicitResult

    return ElicitResult(action=_without(by))


def _without(by: By) -> Literal["decline", "cancel"]:
    return "cancel" if by in ("timeout", "cancel") else "decline"


async def _field(asker: Asker, head: str, name: str, field: dict[str, Any], *, needed: bool) -> tuple[Value, By]:
    """One field: asked again where what was said does not fit, a few times."""
    title = line(str(field.get("title") or name))
    about = line(str(field.get("description") or ""))
    text = f"{head}\n{title}{f' ({about})' if about else ''}:"
    options = _options(field)
    given = field.get("default")
    default = "" if given is None else ("yes" if given else "no") if isinstance(given, bool) else line(str(given))
    note = ""
    for _ in range(_TRIES):
        answer, by = await asker.ask(text + note, options=options, default=default, seconds=SECONDS)
        if by != "person":
            return None, by
        if not answer.strip() and not needed:
            return None, by
        value = _value(answer.strip() or default, field, options)
        if value is not None:
            return value, by
        note = f" {say('mcp.does_not_fit')}"
    return None, "cancel"


def _options(field: dict[str, Any]) -> tuple[str, ...]:
    if field.get("type") == "boolean":
        return _YES
    choices = field.get("enum") or [
        one.get("const") for one in cast("list[dict[str, Any]]", field.get("oneOf") or field.get("anyOf") or [])
    ]
    return tuple(line(str(choice)) for choice in cast("list[Any]", choices)[:20])


def _value(answer: str, field: dict[str, Any], options: tuple[str, ...]) -> Value:
    """What an answer means for a field; None when it does not fit."""
    kind = field.get("type")
    if kind == "boolean":
        return {"yes": True, "no": False, "true": True, "false": False}.get(answer.lower())
    if kind == "array":
        return [part.strip() for part in answer.split(",") if part.strip()]
    if kind in ("integer", "number"):
        try:
            number = int(answer) if kind == "integer" else float(answer)
        except ValueError:
            return None
        low, high = field.get("minimum", number), field.get("maximum", number)
        return number if low <= number <= high else None
    if options and answer not in options:
        return None
    return answer or None
