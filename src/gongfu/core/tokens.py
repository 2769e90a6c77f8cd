"""The one estimator of tokens: a deterministic guess from the text as it stands on the wire.

A token is four bytes of UTF-8, rounded up: a quarter for an ASCII character, a half for Cyrillic and accented
letters, three quarters for Chinese, Japanese and Korean, one for most emoji. Providers' own counts correct it
through `calibrated`.
"""

from __future__ import annotations

from collections.abc import Sequence

PER_MESSAGE = 4
_IMAGE_UNKNOWN = 1600


def text_tokens(text: str) -> int:
    """Estimated tokens of `text`; 0 for an empty one."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (size + 3) // 4


def bytes_tokens(size: int) -> int:
    """Estimated tokens of `size` bytes of UTF-8."""
    return (size + 3) // 4


def image_tokens(width: int, height: int) -> int:
    """Tokens of an image of that many pixels.

    The larger of Anthropic's width x height / 750 (at most 1,600 after its own scaling) and OpenAI's 85 + 170 a tile
    of 512 pixels; 1,600 when the size is unknown.
    """
    if width <= 0 or height <= 0:
        return _IMAGE_UNKNOWN
    area = min(_IMAGE_UNKNOWN, -(-width * height // 750))
    longest, shortest = max(width, height), min(width, height)
    if longest > 2048:
        longest, shortest = 2048, max(1, shortest * 2048 // longest)
    if shortest > 768:
        longest, shortest = longest * 768 // shortest, 768
    return max(area, 85 + 170 * -(-longest // 512) * -(-shortest // 512))


def calibrated(estimate: int, ratios: Sequence[float]) -> int:
    """`estimate` times q = clamp(max of the last five real/estimated, 1, 2), rounded up."""
    q = min(2.0, max(1.0, *ratios[-5:])) if ratios else 1.0
    return -int(-estimate * q // 1)
