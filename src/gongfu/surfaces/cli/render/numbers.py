"""Tokens, money, time and sizes as people read them."""

from __future__ import annotations


def tokens(count: int) -> str:
    """A count of tokens: "950", "12.3k", "1.25M"."""
    if count < 1000:
        return str(count)
    if count < 999_950:
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.2f}M"


def money(dollars: float) -> str:
    """US dollars: four decimals below ten cents, two above; what rounds to nothing still shows as more than that."""
    if dollars == 0:
        return "$0"
    if dollars < 0.0001:
        return "<$0.0001"
    return f"${dollars:.4f}" if dollars < 0.1 else f"${dollars:.2f}"


def duration(seconds: float) -> str:
    """Seconds: "0.8s", "12.3s", "3m 05s", "2h 07m"."""
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02d}m"


def elapsed(seconds: float) -> str:
    """Whole seconds of what is still going on, or was short: "4s", "3m 05s", "2h 07m"."""
    whole = max(0, int(seconds))
    return f"{whole}s" if whole < 60 else duration(float(whole))


def size(count: int) -> str:
    """Bytes: "512 B", "1.2 kB", "1.1 GB" (powers of a thousand)."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 999.95:
            break
        value, unit = value / 1000, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
