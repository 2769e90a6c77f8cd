"""What a provider may be sent of the history: a pure projection of neutral messages.

The same messages give the same projection, and a longer history begins with the projection of a shorter one, except
where a provider's own rule forbids it (thinking of finished turns, roles that must alternate).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from gongfu.core.base import Base
from gongfu.core.jsonfix import parse_arguments, scrub_text
from gongfu.core.messages import CallPart, ImagePart, Message, Part, ReasoningPart, ResultPart, TextPart
from gongfu.core.prefix import shared_start

LOST = "The result of this call was lost. Look again if it matters; do not assume that it ran."
FILLER = "Understood."
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NINE = re.compile(r"[A-Za-z0-9]{9}")


class Profile(Base, frozen=True):
    """What one model at one provider takes.

    `model` is the reference of the request. `reasoning` says which thinking goes back: "never", that of the running
    "tool_rounds" (since the last words of the person), or "always"; `demanded` that it must be there even if empty;
    `unsigned` that thinking without a signature may go back. `call_signatures`: signatures that belong to a call
    (their `id` is its wire id) go back whatever `reasoning` says. `images` can be seen at all; `result_images` may
    stand in a tool result. `alternate`: user and assistant must take turns, the user first. `result_then_assistant`:
    no user message may follow a result. `ids`: "any", "plain" (letters, digits, _ and -), or "nine" (nine letters and
    digits); `id_size` their longest length; `unique_ids` that no two calls of the history may have the same.
    """

    model: str
    reasoning: Literal["never", "tool_rounds", "always"] = "never"
    demanded: bool = False
    unsigned: bool = True
    call_signatures: bool = False
    images: bool = False
    result_images: bool = False
    alternate: bool = False
    result_then_assistant: bool = False
    ids: Literal["any", "plain", "nine"] = "any"
    id_size: int = 0
    unique_ids: bool = False


class Memo:
    """What the last history became, so that the next one, which mostly begins with the same messages, is projected from
    where it goes on. It belongs to one profile."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.out: list[Message] = []
        self.last_words = -1
        self.names: _Names | None = None
        self._steps: list[tuple[int, int, tuple[str, ...]]] = []

    def cut(self, size: int) -> None:
        """Forget all but the first `size` messages."""
        steps, self._steps[size:] = self._steps[size:], []
        del self.messages[size:]
        end, count, _ = self._steps[-1] if self._steps else (0, 0, ())
        del self.out[end:]
        if self.names is not None:
            self.names.go_back(count, (given for _, _, ids in steps for given in ids))

    def end_of(self, at: int) -> int:
        """How many projected messages there are up to the end of message `at`."""
        return self._steps[at][0]

    def add(self, message: Message, projected: tuple[Message, ...], count: int, ids: tuple[str, ...]) -> None:
        """Remember what the next message became; `ids` are those that were given to its calls."""
        self.out.extend(projected)
        self.messages.append(message)
        self._steps.append((len(self.out), count, ids))


def project(messages: Sequence[Message], profile: Profile, memo: Memo | None = None) -> tuple[Message, ...]:
    """The messages as the provider of `profile` may be sent them.

    Every call has its result right behind it; in the projection `CallPart.id` and `ResultPart.call_id` are what goes
    over the wire. Arguments are strict JSON objects, names match `[A-Za-z0-9_-]{1,64}`, no text holds a lone
    surrogate, no message is empty. `memo`, when given, is used and brought up to date; it belongs to one profile.
    """
    memo = Memo() if memo is None else memo
    paired, known = _continued(messages, memo.messages)
    last_words = _last_words(paired, known, memo.last_words)
    if profile.reasoning == "tool_rounds" and last_words != memo.last_words:
        known = min(known, min(last_words, memo.last_words) + 1)  # thinking behind them is kept no longer, or again
    names = memo.names = memo.names or _Names(profile)
    memo.cut(known)
    memo.last_words = last_words
    wire: tuple[str, ...] = ()
    for number in range(known, len(paired)):
        message = paired[number]
        ids: tuple[str, ...] = ()
        if message.role == "assistant":
            ids = wire = names.of_message(message)
        keep = profile.reasoning == "always" or (profile.reasoning == "tool_rounds" and number > last_words)
        memo.add(message, _projected(message, profile, keep=keep, wire=wire), names.count, ids)
    return _in_turns(memo.out, profile)


def _continued(messages: Sequence[Message], known: Sequence[Message]) -> tuple[Sequence[Message], int]:
    """The messages with calls and results paired, and how many of them at the beginning are known.

    Known messages are paired, so the count never parts a message from the results of its calls.
    """
    same = _closed(known, shared_start(known, messages))
    if _in_order(messages[same:]):
        return messages, same
    paired = _paired(messages)
    return paired, _closed(known, shared_start(known, paired))


def _closed(messages: Sequence[Message], size: int) -> int:
    return size - 1 if size and messages[size - 1].role == "assistant" and messages[size - 1].calls else size


def _last_words(messages: Sequence[Message], known: int, before: int) -> int:
    """The index of the person's newest words, -1 without any; `before` is what it was when the first were known."""
    for number in range(len(messages) - 1, -1, -1):
        if number < known and before < known:
            return before
        if messages[number].role == "user" and not messages[number].kind:
            return number
    return -1


# --- calls and their results -------------------------------------------------------------------------------------


def _paired(messages: Sequence[Message]) -> list[Message]:
    """One tool message right behind each message with calls. A history in order comes back with the same objects."""
    if _in_order(messages):
        return list(messages)
    waiting: dict[str, deque[ResultPart]] = {}
    for result in (r for m in messages for r in m.results):
        waiting.setdefault(result.call_id, deque()).append(result)
    out: list[Message] = []
    for message in messages:
        if message.role == "tool":
            continue
        out.append(message)
        if message.role == "assistant" and message.calls:
            found = (waiting.get(c.id) for c in message.calls)
            results = tuple(
                r.popleft() if r else ResultPart(call_id=c.id, text=LOST, status="interrupted")
                for c, r in zip(message.calls, found, strict=True)
            )
            out.append(Message(role="tool", parts=results))
    return out


def _in_order(messages: Sequence[Message]) -> bool:
    wanted: list[str] = []
    for message in messages:
        if message.role == "tool":
            if [r.call_id for r in message.results] != wanted or not wanted:
                return False
            wanted = []
        elif wanted:
            return False
        elif message.role == "assistant":
            wanted = [p.id for p in message.parts if isinstance(p, CallPart)]
    return not wanted


class _Names:
    """Gives each call the id that goes over the wire, in the order of the history."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._used: set[str] = set()
        self.count = 0

    def go_back(self, count: int, given: Iterable[str]) -> None:
        """Take back what was given since there had been `count` calls."""
        self.count = count
        self._used.difference_update(given)

    def of_message(self, message: Message) -> tuple[str, ...]:
        """The ids of its calls. Within one message they always differ: results could not be told apart."""
        ids: list[str] = []
        for call in message.calls:
            wanted = self._of(call)
            ids.append(wanted if wanted not in ids else self._made(f"{call.id or wanted}_{self.count}"))
        return tuple(ids)

    def _of(self, call: CallPart) -> str:
        self.count += 1
        wanted = call.wire_id or call.id
        if not self._fits(wanted):
            wanted = self._made(call.id or f"call_{self.count}")
        while self._taken(wanted):
            wanted = self._made(f"{call.id or wanted}_{self.count}")
            self.count += 1
        self._used.add(wanted)
        return wanted

    def _fits(self, id: str) -> bool:
        profile = self._profile
        if not id or (profile.id_size and len(id) > profile.id_size):
            return False
        if profile.ids == "any":
            return scrub_text(id) == id
        return (_NINE if profile.ids == "nine" else _PLAIN_ID).fullmatch(id) is not None

    def _taken(self, id: str) -> bool:
        return (self._profile.unique_ids or self._profile.ids == "nine") and id in self._used

    def _made(self, id: str) -> str:
        if self._profile.ids == "nine":
            return _nine(id)
        size = self._profile.id_size or 64
        plain = _NOT_NAME.sub("_", scrub_text(id))
        return plain if len(plain) <= size else plain[: size - 10] + "_" + _nine(id)


def _nine(text: str) -> str:
    """Nine letters and digits that stand for `text`."""
    from hashlib import sha256  # only for servers that want ids of a shape of their own

    value = int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    digits: list[str] = []
    for _ in range(9):
        value, digit = divmod(value, 36)
        digits.append("0123456789abcdefghijklmnopqrstuvwxyz"[digit])
    return "".join(digits)


# --- one message -------------------------------------------------------------------------------------------------


def _projected(message: Message, profile: Profile, *, keep: bool, wire: tuple[str, ...]) -> tuple[Message, ...]:
    if message.role == "assistant":
        return _assistant(message, profile, keep=keep, wire=wire)
    if message.role == "tool":
        return _tool(message, profile, wire)
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, TextPart) and part.text:
            parts.append(_text(part))
        elif isinstance(part, ImagePart):
            parts.append(part if profile.images else TextPart(text=_omitted(1)))
    if not any(isinstance(p, ImagePart) or (isinstance(p, TextPart) and p.text.strip()) for p in parts):
        parts = [TextPart(text="(empty message)")]
    return (_with(message, parts, role="user"),)


def _assistant(message: Message, profile: Profile, *, keep: bool, wire: tuple[str, ...]) -> tuple[Message, ...]:
    parts: list[Part] = []
    number = 0
    for part in message.parts:
        if isinstance(part, TextPart) and part.text.strip():
            parts.append(_text(part))
        elif isinstance(part, ReasoningPart) and _returns(part, message, profile, keep=keep):
            parts.append(part if part.signature or part.data else replace(part, text=scrub_text(part.text)))
        elif isinstance(part, CallPart):
            parts.append(_call(part, wire[number]))
            number += 1
    if not any(isinstance(p, TextPart | CallPart) for p in parts):
        return ()  # nothing was said: no provider takes such a message
    if keep and profile.demanded and not any(isinstance(p, ReasoningPart) and not p.id for p in parts):
        parts.insert(0, ReasoningPart(model=profile.model))
    return (_with(message, parts),)


def _returns(part: ReasoningPart, message: Message, profile: Profile, *, keep: bool) -> bool:
    if (part.model or message.model) != profile.model:
        return False
    if part.signature and part.id and not part.text and profile.call_signatures:
        return True
    return keep and (profile.unsigned or bool(part.signature or part.data))


def _call(part: CallPart, id: str) -> CallPart:
    name = part.name if _NAME.fullmatch(part.name) else (_NOT_NAME.sub("_", part.name)[:64] or "unknown")
    arguments = _strict(part.arguments)
    if part.via:
        inner = msgspec.json.encode(part.name).decode()
        name, arguments = part.via, f'{{"name":{inner},"arguments":{arguments}}}'
    if id == part.id and name == part.name and arguments == part.arguments and not part.raw:
        return part
    return replace(part, id=id, wire_id=id, name=name, arguments=arguments, raw="", via="")


def _strict(arguments: str) -> str:
    try:
        if isinstance(msgspec.json.decode(arguments), dict):
            return arguments
    except (msgspec.DecodeError, RecursionError, ValueError):
        pass
    return parse_arguments(arguments, {}).text


def _tool(message: Message, profile: Profile, wire: tuple[str, ...]) -> tuple[Message, ...]:
    parts: list[Part] = []
    moved: list[ImagePart] = []
    for result, wire_id in zip(message.results, wire, strict=True):
        text = scrub_text(result.text)
        images = result.images
        if images and not profile.images:
            text = f"{text}\n{_omitted(len(images))}" if text else _omitted(len(images))
        elif images and not profile.result_images:
            moved.extend(images)
            text = text or f"({len(images)} image(s): see the next message)"
        parts.append(
            ResultPart(
                call_id=wire_id,
                text=text if text.strip() or images else "(no output)",
                status=result.status,
                images=images if profile.images and profile.result_images else (),
            )
        )
    out = (_with(message, parts),)
    if not moved:
        return out
    label = TextPart(text="Images of the tool results above:")
    return (*out, Message(role="user", parts=(label, *moved), kind="note"))


def _omitted(count: int) -> str:
    return f"[{count} image(s) left out: this model cannot see images]"


def _text(part: TextPart) -> TextPart:
    text = scrub_text(part.text)
    return part if text is part.text else TextPart(text=text)


def _with(message: Message, parts: list[Part], role: Literal["user", "assistant", "tool"] | None = None) -> Message:
    role = role or ("user" if message.role == "system" else message.role)
    same = len(parts) == len(message.parts) and all(a is b for a, b in zip(parts, message.parts, strict=True))
    return message if same and role == message.role else replace(message, role=role, parts=tuple(parts))


# --- the order of roles ------------------------------------------------------------------------------------------


def _in_turns(messages: Sequence[Message], profile: Profile) -> tuple[Message, ...]:
    if profile.alternate:
        messages = _alternating(messages)
    if profile.result_then_assistant:
        out: list[Message] = []
        for message in messages:
            if message.role == "user" and out and out[-1].role == "tool":
                out.append(Message(role="assistant", parts=(TextPart(text=FILLER),)))
            out.append(message)
        messages = out
    return tuple(messages)


def _alternating(messages: Sequence[Message]) -> list[Message]:
    out: list[Message] = []
    if messages and messages[0].role != "user":
        out.append(Message(role="user", parts=(TextPart(text="Continue."),), kind="note"))
    for message in messages:
        last = out[-1] if out else None
        if last is None or last.role != message.role or message.role == "tool" or last.calls:
            out.append(message)
            continue
        gap: tuple[Part, ...] = (TextPart(text="\n\n"),)
        out[-1] = replace(last, parts=last.parts + gap + message.parts, kind=last.kind and message.kind)
    return out
