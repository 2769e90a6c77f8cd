"""What providers call the end of an answer, and what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gongfu.core.events import Finish

_LENGTH = {"length", "max_tokens", "max_output_tokens", "max_length", "model_length", "token_limit", "truncated"}
_FILTER = {
    "content_filter", "content-filter", "filter", "safety", "sensitive", "recitation", "blocklist", "refusal",
    "prohibited_content", "spii", "image_safety",
}  # fmt: skip
_STOP = {
    "", "null", "none", "stop", "eos", "eos_token", "end", "end_turn", "complete", "completed", "finish", "finished",
    "stop_sequence", "tool_calls", "tool_call", "tool_use", "function_call", "function_calls", "done",
}  # fmt: skip
_BROKEN = {"error", "abort", "aborted", "network_error", "insufficient_system_resource", "cancelled", "failed"}


def is_cut(raw: str) -> bool:
    """Whether the provider's word says that a limit of tokens cut the answer."""
    return raw.lower() in _LENGTH


def is_broken(raw: str) -> bool:
    """Whether the provider's word says that the answer broke off through a fault of its own."""
    return raw.lower() in _BROKEN


def finish_of(raw: str, *, calls: bool, cut: bool) -> Finish:
    """Judge the end: a cut wins, then calls, then a filter; the provider's word is a hint and may be missing."""
    word = raw.lower()
    if cut:
        return "length"
    if calls:
        return "calls"
    if word in _FILTER:
        return "filter"
    return "stop" if word in _STOP else "unknown"
