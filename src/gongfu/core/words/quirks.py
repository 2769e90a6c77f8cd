"""Sentences about tables of providers' oddities."""

from __future__ import annotations

TEXT = {
    "unknown": (
        "There is no table of oddities called {name!r}. Nothing was sent. Set `quirks` to one of: {known}; or leave it out.",
        "没有名为 {name!r} 的提供商特性表，未发送任何内容。请将 `quirks` 设为以下之一：{known}；或不设置。",
    ),
}
