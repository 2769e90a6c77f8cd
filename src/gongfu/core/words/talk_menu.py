"""What stands in the menu of completions beside what is offered."""

TEXT: dict[str, tuple[str, str]] = {
    "wrong_file": ("its file is wrong: {reason}", "文件有误：{reason}"),
    "expected": ("expected here", "此处需要"),
    "default": ("or else {value}", "缺省为 {value}"),
    "resources": ("resources of this MCP server", "此 MCP 服务器的资源"),
    "more_files": (
        "There are more than {count} files; the others are not offered.",
        "文件超过 {count} 个；其余不在此列出。",
    ),
    "looking": ("still looking through the files …", "仍在查看文件……"),
    "usage_ref": ("REF", "模型"),
    "usage_name": ("NAME", "名称"),
    "usage_focus": ("FOCUS", "重点"),
    "usage_session": ("SESSION", "会话"),
    "usage_text": ("TEXT", "文字"),
    "usage_plan": ("PLAN", "计划"),
    "usage_id": ("ID", "编号"),
    "usage_checkpoint": ("CHECKPOINT", "检查点"),
    "usage_words": ("WORDS", "词语"),
    "usage_file": ("FILE", "文件"),
    "usage_command": ("COMMAND", "命令"),
    "usage_value": ("VALUE", "值"),
}
