"""What `gongfu context --json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from gongfu.context.receipt import Receipt
from gongfu.context.xray import Fold, Purpose, Xray, left_out, picture, totals
from gongfu.surfaces.cli.result import usage_fields

_LONG = ("included", "omitted")


def context_fields(seen: Xray, chosen: Receipt | None, *, whole: bool = False) -> dict[str, Any]:
    """The object: the session, the chosen request in full, and a receipt for each request.

    With `whole` each of `requests` lists what it included and omitted, too. `request` is null when none was sent.
    """
    summed = totals(seen.receipts)
    return {
        "type": "context",
        "session": seen.session,
        "title": seen.title,
        "parent": seen.parent,
        "request": None if chosen is None else request_fields(seen, chosen),
        "requests": [receipt_fields(receipt, whole=whole) for receipt in seen.receipts],
        "epochs": [fold_fields(fold) for fold in seen.folds],
        "cache": {
            "main": purpose_fields(summed.main),
            "all": purpose_fields(summed.all),
            "breaks": [_plain(broken) for broken in summed.breaks],
        },
        "units": seen.units,
        "purposes": {name: purpose_fields(line) for name, line in summed.by_purpose.items()},
        "agents": [
            {"started": _plain(child.started), "finished": None if child.finished is None else _plain(child.finished)}
            for child in seen.children
        ],
    }


def receipt_fields(receipt: Receipt, *, whole: bool = True) -> dict[str, Any]:
    """All fields of a receipt, those at their default included; `share` is `reused` / `raw`, 0 to 1 or null."""
    fields = {name: getattr(receipt, name) for name in Receipt.__struct_fields__ if whole or name not in _LONG}
    fields["usage"] = None if receipt.usage is None else usage_fields(receipt.usage)
    fields["share"] = None if receipt.share is None else round(receipt.share, 4)
    if whole:
        fields["included"] = [_plain(item) for item in receipt.included]
        fields["omitted"] = [_plain(item) for item in receipt.omitted]
    return fields


def request_fields(seen: Xray, receipt: Receipt) -> dict[str, Any]:
    """A receipt with where its tokens go, what was left out by reason, its rules, and the fold of its epoch."""
    shown, fold = picture(receipt, seen.notes), seen.fold_of(receipt)
    return {
        **receipt_fields(receipt),
        "parts": {
            "slices": [_plain(part) for part in shown.slices],
            "free": shown.free,
            "reserve": shown.reserve,
            "margin": shown.margin,
            "whole": shown.whole,
        },
        "left_out": [_plain(group) for group in left_out(receipt)],
        "rule_lines": [_plain(line) for line in seen.rules_of(receipt)],
        "epoch_opened": None if fold is None else fold_fields(fold),
    }


def fold_fields(fold: Fold) -> dict[str, Any]:
    """The event that opened an epoch, its place in the log, and the number of the first request of the epoch."""
    return {"seq": fold.seq, "time": fold.time, "request": fold.request, **_plain(fold.event)}


def purpose_fields(line: Purpose) -> dict[str, Any]:
    """Figures of requests together. `share` is estimated, `cached_share` what providers reported; null: not known."""
    return {
        **_plain(line),
        "usage": usage_fields(line.usage),
        "share": None if line.share is None else round(line.share, 4),
        "cached_share": None if line.cached is None else round(line.cached, 4),
    }


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    """All fields of a value as JSON has them, those at their default included."""
    return {name: msgspec.to_builtins(getattr(value, name)) for name in value.__struct_fields__}
