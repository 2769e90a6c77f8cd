"""Sentences of the search through sessions."""

TEXT: dict[str, tuple[str, str]] = {
    "nothing": ("Nothing that was said in any session matches.", "没有任何会话中的内容与之匹配。"),
    "nothing_here": (
        "Nothing that was said in the sessions of {root} matches (`--all` searches those of all folders).",
        "{root} 的会话中没有匹配的内容（`--all` 搜索所有文件夹的会话）。",
    ),
    "title": ("title", "标题"),
    "prompt": ("you", "你"),
    "answer": ("answer", "回答"),
}
