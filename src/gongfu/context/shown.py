"""Short texts that are shown beside the talk: labels and titles."""

from __future__ import annotations

_SIGNS = frozenset("0123456789=:：-")
_MORE = 400  # characters behind what is shown, as half a secret is not known for one


def without_secrets(text: str, shown: int) -> str:
    """A text whose first `shown` characters are to be shown, without secrets; what nobody sees may be missing."""
    if len(text) > shown + _MORE:
        text = text[: shown + _MORE]
    if _SIGNS.isdisjoint(text):  # no secret is known by words alone, and most titles are words
        return text
    from gongfu.core.secrets import redact  # not for every run

    return redact(text)
