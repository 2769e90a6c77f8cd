"""What of the rules stands behind the system prompt: all mandatory ones or a refusal, optional ones by room."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gongfu.context.rules.envelope import PREFACE, Envelope, envelopes
from gongfu.core.base import Base
from gongfu.core.errors import Refusal
from gongfu.core.tokens import text_tokens
from gongfu.core.told import Included, Omitted, RulesPinned


class Standing(Base, frozen=True):
    """The block S1. `text`, of `tokens`, is "" when no rule is delivered; `mandatory` are the envelopes that gates
    count in it.

    `included` and `omitted` are for the receipt; `left_out` are ids of optional rules for which there was no room, of
    which the person is told.
    """

    text: str = ""
    tokens: int = 0
    included: tuple[Included, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    mandatory_tokens: int = 0
    mandatory: tuple[Envelope, ...] = ()
    optional: tuple[Envelope, ...] = ()
    excluded: tuple[Envelope, ...] = ()

    @property
    def left_out(self) -> tuple[Omitted, ...]:
        """The optional rules for which there was no room."""
        return tuple(o for o in self.omitted if o.reason == "budget")


def standing(
    pinned: RulesPinned,
    joined: Collection[str],
    *,
    budget: int,
    share: float,
    optional_room: int,
    chosen: Collection[str] | None = None,
    noted: Collection[str] = (),
) -> Standing:
    """Lay out the rules for a request of `budget` tokens, of which mandatory ones may take `share`.

    `joined` are sources that take part although they are nested or narrowed by paths. Mandatory rules come first, then
    optional ones, each by precedence; where optional ones do not all fit into `optional_room` tokens, nearer ones go
    first. With `chosen`, the ids that stood here before in this epoch, it is these again: the block must not change
    because an estimate did. `noted` are sources that stand in notes of this epoch: not here yet, but of the share they
    take their part, so that a fold finds room for them. Raises Refusal RULES_EXCEED_BUDGET with names and figures.
    """
    everything = envelopes(pinned, joined)
    excluded = tuple(e for e in everything if e.duty == "excluded")
    counted = tuple(e for e in everything if e.duty == "mandatory" and (e.joined or e.path in noted))
    mandatory = tuple(e for e in counted if e.joined)
    allowed = int(budget * share)
    if (taken := _together(counted)) > allowed:
        raise too_large(counted, needed=taken, allowed=allowed, budget=budget)
    wanted = [e for e in everything if e.duty == "optional" and e.joined]
    optional, left = _fitting(wanted, optional_room) if chosen is None else _again(wanted, chosen)
    shown = (*mandatory, *optional)
    omitted = [Omitted(id=e.id, reason="excluded", tokens=e.tokens) for e in excluded]
    omitted += [Omitted(id=e.id, reason="budget", tokens=e.tokens) for e in left]
    for e in everything:
        if e.duty != "excluded" and not e.joined:
            omitted.append(Omitted(id=e.id, reason="scope" if e.nested else "path", tokens=e.tokens))
    text = "\n\n".join((PREFACE, *(e.text for e in shown))) if shown else ""
    return Standing(
        text=text,
        tokens=text_tokens(text),
        included=tuple(Included(id=e.id, tier=0, tokens=e.tokens) for e in shown),
        omitted=tuple(omitted),
        mandatory_tokens=_together(mandatory),
        mandatory=mandatory,
        optional=optional,
        excluded=excluded,
    )


def _together(mandatory: Sequence[Envelope]) -> int:
    return sum(e.tokens for e in mandatory) + (text_tokens(PREFACE) if mandatory else 0)


def too_large(mandatory: Sequence[Envelope], *, needed: int, allowed: int, budget: int) -> Refusal:
    """The refusal of mandatory rules that do not fit."""
    named = sorted(mandatory, key=lambda e: -e.tokens)
    rules = ", ".join(f"{e.id.removeprefix('rule:')} ({e.tokens:,})" for e in named[:6])
    more = f", … ({len(named)})" if len(named) > 6 else ""
    return Refusal("rules.exceed_budget", rules=rules + more, tokens=needed, allowed=allowed, budget=budget)


def _again(optional: Sequence[Envelope], chosen: Collection[str]) -> tuple[tuple[Envelope, ...], tuple[Envelope, ...]]:
    return tuple(e for e in optional if e.id in chosen), tuple(e for e in optional if e.id not in chosen)


def _fitting(optional: Sequence[Envelope], room: int) -> tuple[tuple[Envelope, ...], tuple[Envelope, ...]]:
    """Those that fit and those that do not, each in order; the nearest are tried first."""
    taken: set[str] = set()
    for envelope in reversed(optional):
        if envelope.tokens <= room:
            room -= envelope.tokens
            taken.add(envelope.id)
    return tuple(e for e in optional if e.id in taken), tuple(e for e in optional if e.id not in taken)
