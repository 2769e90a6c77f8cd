"""Receipts of made-up sessions, written as the engine writes them."""

from __future__ import annotations

from typing import Any

from gongfu.context.receipt import Lineage
from gongfu.core import events as ev
from gongfu.core.messages import Message
from gongfu.core.specs import Usage
from gongfu.core.told import EpochOpened, Included, Level

SYSTEM = (Included(id="tools", tier=0, tokens=1300), Included(id="system", tier=0, tokens=700))


def unit(at: int, tokens: int = 100, tier: int = 4, level: Level = "full") -> Included:
    return Included(id=f"u{at}", tier=tier, level=level, tokens=tokens)


class Log:
    """A log that grows request by request."""

    def __init__(self, session: str = "s_log", **created: Any) -> None:
        self.lineage = Lineage()
        self.entries: list[ev.Entry] = []
        self.wholes: list[tuple[Included, ...]] = []
        self.epoch = 0
        self.add(ev.SessionCreated(session=session, directory="/w", root="/w", **created))

    def add(self, event: ev.AnyEvent) -> None:
        self.entries.append(ev.Entry(seq=len(self.entries) + 1, time=1000.0 + len(self.entries), event=event))

    def fold(self, **fields: Any) -> None:
        self.epoch += 1
        given = {"reason": "high", "before": 81_000, "after": 48_000, "rung": 2, "budget": 98_000} | fields
        self.add(EpochOpened(epoch=self.epoch, **given))

    def send(
        self,
        *included: Included,
        model: str = "p/m",
        purpose: str = "main",
        answer: bool = True,
        usage: Usage | None = None,
        **fields: Any,
    ) -> ev.RequestSent:
        raw = sum(item.tokens for item in included)
        stable, rules = fields.get("stable", "11111111.22222222"), fields.get("rules", "")
        described = self.lineage.describe(
            model=model, included=included, epoch=self.epoch, purpose=purpose, stable=stable, rules=rules
        )
        given: dict[str, Any] = {
            "estimate": raw * 11 // 10, "raw": raw, "budget": 98_000, "window": 128_000, "reserve": 27_440,
            "messages": len(included), "bytes": raw * 4, "epoch": self.epoch, "stable": stable,
            "after": described.after, "included": described.included, "reused": described.reused,
            "broke": described.broke,
        } | fields  # fmt: skip
        sent = ev.RequestSent(request=f"r{len(self.wholes) + 1}", purpose=purpose, model=model, **given)
        self.wholes.append(included)
        self.lineage.apply(sent)
        self.add(sent)
        if answer:
            counted = Usage(input=raw, cached=described.reused, output=50) if usage is None else usage
            self.add(
                ev.AnswerReceived(
                    request=sent.request, message=Message(role="assistant"), usage=counted, purpose=purpose,
                    model=model, cost=0.01, seconds=2.0,
                )
            )  # fmt: skip
        return sent
