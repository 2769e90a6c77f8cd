"""Words of `gongfu compact`."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "nothing": (
        "Nothing to fold in session {session}: what it holds is recent, or must stay. Nothing was changed.",
        "会话 {session} 没有可折叠的内容：现有内容都较新或必须保留。没有做任何改动。",
    ),
    "folded": (
        "Folded session {session}: {before} → {after} tokens in a request ({budget} at most).",
        "已折叠会话 {session}：每次请求 {before} → {after} token（上限 {budget}）。",
    ),
    "masked": ("{count} tool results give way to their labels", "{count} 个工具结果以标签代替"),
    "masked_one": ("1 tool result gives way to its label", "1 个工具结果以标签代替"),
    "cut": ("{count} long texts are cut to head and tail", "{count} 段长文本只保留首尾"),
    "cut_one": ("1 long text is cut to head and tail", "1 段长文本只保留首尾"),
    "dropped": ("{count} calls are left out, behind one note", "{count} 次调用被略去，由一条说明代替"),
    "dropped_one": ("1 call is left out, behind one note", "1 次调用被略去，由一条说明代替"),
    "moved": ("{count} turns moved to summary and past exchanges", "{count} 轮移入摘要和过往问答"),
    "moved_one": ("1 turn moved to summary and past exchanges", "1 轮移入摘要和过往问答"),
    "focus": ("kept above all: {focus}", "优先保留：{focus}"),
    "back": (
        "Nothing was deleted. The model brings text back with its tool `recall`{example}; `gongfu show {session}`"
        " shows all of it.",
        "没有删除任何内容。模型可用工具 `recall` 取回原文{example}；`gongfu show {session}` 显示全部内容。",
    ),
    "example": (" (for instance `recall id={id}`)", "（例如 `recall id={id}`）"),
}
