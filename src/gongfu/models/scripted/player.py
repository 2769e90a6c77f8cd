"""Which step answers which request, and the errors of a script that does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gongfu.core.base import Base
from gongfu.core.errors import UserError
from gongfu.core.messages import ImagePart, Message, RawPart, ReasoningPart, ResultPart, TextPart
from gongfu.models.protocol import Request, whole_system
from gongfu.models.scripted.script import Match, Planned, Step, Words


class ScriptError(UserError):
    """A script and what really happened do not fit."""


class UnexpectedCall(ScriptError):
    """A request came when the script was over, or it is not what the step at hand expects."""


class UnusedSteps(ScriptError):
    """The run is over and steps are left."""


class Seen(Base, frozen=True):
    """A request as a script looks at it, whatever way it came."""

    system: str = ""
    texts: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    model: str = ""
    purpose: str = ""

    @property
    def last(self) -> str:
        """The text of the last message."""
        return self.texts[-1] if self.texts else ""


def seen_of(request: Request) -> Seen:
    """The view of a provider-neutral request."""
    results: list[str] = []
    for message in reversed(request.messages):
        if message.role == "assistant":
            break
        results[:0] = [r.text for r in message.results]
    return Seen(
        system=whole_system(request),
        texts=tuple(_text(m) for m in request.messages),
        results=tuple(results),
        tools=tuple(t.name for t in request.tools),
        model=request.model,
        purpose=request.purpose,
    )


def _text(message: Message) -> str:
    words: list[str] = []
    for part in message.parts:
        match part:
            case TextPart() | ReasoningPart() | ResultPart():
                words.append(part.text)
            case ImagePart() | RawPart():
                pass
            case _:
                words.append(f"{part.name} {part.raw or part.arguments}")
    return "\n".join(words)


def differences(match: Match, seen: Seen) -> list[str]:
    """What of `match` does not hold, one sentence each; empty when all of it does."""
    whole = "\n".join((seen.system, *seen.texts))
    results = "\n".join(seen.results)
    found = [
        *(f"contains {w!r}" for w in _words(match.contains) if w not in whole),
        *(f"lacks {w!r}" for w in _words(match.lacks) if w in whole),
        *(f"last_contains {w!r}" for w in _words(match.last_contains) if w not in seen.last),
        *(f"system_contains {w!r}" for w in _words(match.system_contains) if w not in seen.system),
        *(f"tool_result_contains {w!r}" for w in _words(match.tool_result_contains) if w not in results),
        *(f"tools_include {w!r}" for w in _words(match.tools_include) if w not in seen.tools),
        *(f"tools_exclude {w!r}" for w in _words(match.tools_exclude) if w in seen.tools),
    ]
    if match.purpose and seen.purpose and match.purpose != seen.purpose:
        found.append(f"purpose {match.purpose!r}")
    if match.model and match.model != seen.model:
        found.append(f"model {match.model!r}")
    return found


def _words(words: Words) -> tuple[str, ...]:
    return (words,) if isinstance(words, str) else words


class Player:
    """Hands out the steps of one script in order. `steps` may also be an endless iterator."""

    def __init__(self, steps: Iterable[Planned]) -> None:
        self._left: list[Planned] | None = list(steps) if isinstance(steps, Sequence) else None
        self._aside: list[Step] = []
        if self._left is not None:
            self._aside = [s for s in self._left if isinstance(s, Step) and s.when]
            self._left = [s for s in self._left if not (isinstance(s, Step) and s.when)]
        self._ahead: Iterator[Planned] = iter(self._left if self._left is not None else steps)
        self._now: Planned | None = None
        self._played = 0
        self._taken = 0
        self._requests = 0
        self.errors: list[UnexpectedCall] = []

    def next(self, seen: Seen, request: Any) -> Step:
        """The step that answers this request; raises UnexpectedCall (and keeps it in `errors`)."""
        self._requests += 1
        for step in self._aside:
            if step.when and not differences(step.when, seen):
                return step
        planned = self._take()
        if planned is None:
            raise self._unexpected(seen, "the end of the conversation: the script is over")
        step = planned if isinstance(planned, Step) else planned(request)
        if step.expect and (wrong := differences(step.expect, seen)):
            raise self._unexpected(seen, "; ".join(wrong))
        return step

    def _take(self) -> Planned | None:
        """The step at hand: the same one again until it was played `times` times."""
        if self._now is not None:
            times = self._now.times if isinstance(self._now, Step) else 1
            if times == 0 or self._played < times:
                self._played += 1
                return self._now
        self._now = next(self._ahead, None)
        self._played = 1
        self._taken += self._now is not None
        return self._now

    def _unexpected(self, seen: Seen, expected: str) -> UnexpectedCall:
        came = (
            f"{len(seen.texts)} messages, tools {', '.join(seen.tools) or 'none'}, purpose {seen.purpose or 'unknown'}"
        )
        error = UnexpectedCall(
            "scripted.unexpected", number=self._requests, expected=expected, came=came, last=_short(seen.last)
        )
        self.errors.append(error)
        return error

    def finish(self) -> None:
        """Raise the first UnexpectedCall there was, or UnusedSteps when steps of a list are left."""
        if self.errors:
            raise self.errors[0]
        if self._left is None:
            return
        left = self._left[self._taken :]
        if isinstance(self._now, Step) and self._played < self._now.times:
            left = [self._now, *left]
        if isinstance(self._now, Step) and self._now.times == 0:
            return
        if left:
            raise UnusedSteps("scripted.unused", count=len(left), first=_short(repr(left[0])))


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"
