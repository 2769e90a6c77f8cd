"""The window that a server really serves, seen from what it counts."""

from __future__ import annotations

from gongfu.core.specs import ModelInfo, Usage

_LEAST_SENT = 4096
_LEAST_COUNTED = 1000
_SHARE = 0.5


def served_window(sent_estimate: int, reported_usage: Usage) -> int | None:
    """The served window in tokens when a server silently cut the prompt, else None.

    `sent_estimate` is the estimate of the prompt's tokens. A server that cuts (Ollama with its `num_ctx`, for one)
    counts what was left of the prompt. Only a count below half of the estimate says so: estimates are closer than
    that. Short prompts say nothing, nor do tiny counts, which some servers give when all but the end of a prompt was
    in their cache. Tokens of a cache are added whether or not the count holds them already, so that no convention of
    counting raises a false alarm.
    """
    counted = reported_usage.input
    if sent_estimate < _LEAST_SENT or counted < _LEAST_COUNTED:
        return None
    generous = counted + reported_usage.cached + reported_usage.cache_write
    return counted if generous < sent_estimate * _SHARE else None


def output_limit(wanted: int, info: ModelInfo, prompt_tokens: int) -> int:
    """The output limit to send, in tokens: `wanted`, but no more than the model gives or the window leaves.

    `prompt_tokens` is the estimate of the prompt; a fiftieth of the window is left for what the estimate misses. An
    unknown window (0) does not clamp. At least 256 are asked for: a prompt that leaves less is for the caller to fold.
    """
    limit = min(wanted, info.max_output) if info.max_output else wanted
    if info.window:
        limit = min(limit, info.window - prompt_tokens - info.window // 50)
    return max(256, limit)
