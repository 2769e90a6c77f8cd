"""One record of tokens out of every provider's way of counting."""

from __future__ import annotations

from typing import Any, cast

from gongfu.core.specs import Usage

_DIGITS = 12  # a count with more of them is no count


def usage_of(fields: dict[str, Any], *, cached_outside: bool = False, output_from_total: bool = False) -> Usage:
    """The record for a `usage` object of Chat Completions or one of its relatives.

    Cached tokens may be told in five places, and may or may not be in the prompt's count: the total tells, else
    `cached_outside`. Thinking may be left out of the completion's count: again the total tells, and with
    `output_from_total` everything that is not the prompt was generated.
    """
    details = _inside(fields, "prompt_tokens_details", "input_tokens_details")
    made = _inside(fields, "completion_tokens_details", "output_tokens_details")
    hit, miss = _number(fields, "prompt_cache_hit_tokens"), _number(fields, "prompt_cache_miss_tokens")
    prompt = _number(fields, "prompt_tokens", "input_tokens") or hit + miss
    output = _number(fields, "completion_tokens", "output_tokens")
    cached = (
        _number(details, "cached_tokens", "cache_read_tokens")
        or hit
        or _number(fields, "cached_tokens", "cache_read_input_tokens")
    )
    write = _number(details, "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens") or _number(
        fields, "cache_creation_input_tokens"
    )
    reasoning = _number(made, "reasoning_tokens") or _number(fields, "reasoning_tokens")
    total = _number(fields, "total_tokens")
    apart = cached_outside or cached > prompt or ("cache_read_input_tokens" in fields and "input_tokens" in fields)
    if total and cached + write and total in (prompt + output, prompt + output + cached + write):
        apart = total != prompt + output
    if apart:
        prompt += cached + write
    if output_from_total and total > prompt + output:
        reasoning = reasoning or total - prompt - output
        output = total - prompt
    elif reasoning and (total == prompt + output + reasoning or reasoning > output):
        output += reasoning
    return Usage(input=prompt, cached=cached, cache_write=write, output=output, reasoning=min(reasoning, output))


def _inside(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        if isinstance(fields.get(name), dict):
            return cast("dict[str, Any]", fields[name])
    return {}


def _number(fields: dict[str, Any], *names: str) -> int:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.isdecimal() and len(value) <= _DIGITS:
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**_DIGITS:
            return int(value)
    return 0
