"""Sentences on tools: what a call is about, in one short line, and what is wrong with a set of tools."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "clash": (
        "Two tools are called {name}. No tool was loaded; remove or rename one of them, or let one say that it "
        "replaces the other.",
        "有两个名为 {name} 的工具。没有加载任何工具；请删除或重命名其中一个，或声明其中一个替换另一个。",
    ),
}
