"""The error tree. The class of an error says who must act.

GongfuError
├── UserError            the person: what happened, what was not touched, what to do
│   ├── ConfigError      a settings file is wrong; carries file, line and column in its arguments
│   ├── Refusal          refused by policy, rules or budget before anything was sent (exit code 3)
│   └── LimitReached     a limit of steps, money, time or tokens ended the turn (exit code 4)
├── ToolFailure          the model: what is wrong with the call and what would be right
└── ProviderFault        the retry policy: what a model endpoint did
    ├── Unauthorized Throttled Overloaded Unreachable StreamCut
    └── Refused Overflow BadRequest ContentFilter
"""

from __future__ import annotations

from typing import ClassVar, cast

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_REFUSED = 3
EXIT_BUDGET = 4
EXIT_INTERRUPTED = 130


class GongfuError(Exception):
    """Base of all errors that Gongfu raises on purpose."""


class UserError(GongfuError):
    """Something that the person can put right.

    `key` names a sentence of the catalogue (`core.words`, "area.name"), `values` fill its placeholders;
    a surface renders both in the person's language. `str()` is the English text.
    """

    exit_code: ClassVar[int] = EXIT_FAILED

    def __init__(self, key: str, *, exit_code: int | None = None, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.values = values
        self.code = type(self).exit_code if exit_code is None else exit_code

    def __str__(self) -> str:
        from gongfu.core.words import say  # not at import: the catalogue is read only when an error is shown

        return say(self.key, "en", **self.values)


class UsageError(UserError):
    """The command, the request or the arguments make no sense as given."""

    exit_code = EXIT_USAGE


class ConfigError(UsageError):
    """A settings file cannot be used. Its values carry file, line and column where they are known."""


class Refusal(UserError):
    """Refused before anything was sent or run; history is kept."""

    exit_code = EXIT_REFUSED


class LimitReached(UserError):
    """A shared limit (steps, money, time, tokens, circles) ended the turn cleanly."""

    exit_code = EXIT_BUDGET


class ToolFailure(GongfuError):
    """Speaks to the model: one or two sentences on what is wrong and what would be right."""


class ProviderFault(GongfuError):
    """What a model endpoint did instead of answering.

    `kind` is the stable name, `status` the HTTP status if there was one, `retry_after` seconds that the server
    asked to wait, `detail` the server's own words (already redacted), `model` the reference that was asked.
    `said` is all that the server said, codes and types included, for recognising what it complains of. `again` tells
    that the provider has learned from it: the same request is put otherwise when it is made again.
    """

    kind: ClassVar[str] = "fault"
    retryable: ClassVar[bool] = False

    def __init__(
        self, detail: str = "", *, status: int | None = None, retry_after: float | None = None, model: str = ""
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.retry_after = retry_after
        self.model = model
        self.said = ""
        self.again = False

    def __str__(self) -> str:
        where = f" from {self.model}" if self.model else ""
        status = f" (HTTP {self.status})" if self.status else ""
        return f"{self.kind}{where}{status}: {self.detail}"


class Unauthorized(ProviderFault):
    """The key is missing, wrong or may not use this model."""

    kind = "unauthorized"


class Throttled(ProviderFault):
    """Too many requests or tokens in a span of time; `retry_after` is honoured."""

    kind = "throttled"
    retryable = True


class Overloaded(ProviderFault):
    """The server is there but cannot serve now (5xx, 529)."""

    kind = "overloaded"
    retryable = True


class Unreachable(ProviderFault):
    """No connection: name, address, TLS, proxy or a time-out before the first byte of an answer."""

    kind = "unreachable"
    retryable = True


class StreamCut(ProviderFault):
    """The answer broke off. `partial` is the `models.protocol.Answer` of what had arrived, or None."""

    kind = "stream_cut"
    retryable = True

    def __init__(self, detail: str = "", *, partial: object = None, status: int | None = None, model: str = "") -> None:
        super().__init__(detail, status=status, model=model)
        self.partial = partial


class Refused(ProviderFault):
    """The endpoint refuses for good: no money, no such model, a forbidden region."""

    kind = "refused"


class Overflow(ProviderFault):
    """The prompt is longer than the window that is really served. `numbers` say what was tried, once all was."""

    kind = "overflow"
    numbers: dict[str, int] | None = None


class BadRequest(ProviderFault):
    """The endpoint does not take the request as it was written."""

    kind = "bad_request"


class ContentFilter(ProviderFault):
    """The endpoint withheld the answer for its content."""

    kind = "content_filter"


def root_of(error: BaseException) -> BaseException:
    """The error that matters in a group of them: what somebody must act on, else the first; any other error itself."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [root_of(inner) for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions]
    ranked = (UserError, ProviderFault, ToolFailure, KeyboardInterrupt, BrokenPipeError)
    return next((leaf for kind in ranked for leaf in leaves if isinstance(leaf, kind)), leaves[0])
