"""Words around the place where a person types."""

TEXT: dict[str, tuple[str, str]] = {
    "pasted": ("pasted #{number}, {lines} lines", "粘贴 #{number}，{lines} 行"),
    "pasted_long": ("pasted #{number}, {size} characters", "粘贴 #{number}，{size} 字符"),
    "image": ("image #{number}", "图片 #{number}"),
    "image_named": ("image #{number} {name}", "图片 #{number} {name}"),
    "while_running": (
        "Enter: into this turn · Tab: after it · Esc: stop",
        "Enter 插入本轮 · Tab 排到之后 · Esc 停止",
    ),
    "shell": ("a command of your own; the model sees what it says", "由你运行的命令；模型会看到输出"),
    "cleared": ("Ctrl-_ brings it back", "Ctrl-_ 可恢复"),
    "search": ("search: ", "搜索："),
    "search_keys": ("Ctrl-R older · Enter take · Esc back", "Ctrl-R 更早 · Enter 采用 · Esc 返回"),
    "search_none": ("nothing found", "没有找到"),
    "reading_image": ("The image is still being read; it is sent then.", "图片仍在读取，读完即发送。"),
    "reading_clipboard": ("Reading the clipboard …", "正在读取剪贴板……"),
    "clipboard_empty": ("There is no image in the clipboard.", "剪贴板里没有图片。"),
    "clipboard_large": (
        "The image in the clipboard is larger than {limit} MB; it was not taken.",
        "剪贴板中的图片超过 {limit} MB，未采用。",
    ),
    "clipboard_lacks": (
        "The clipboard cannot be read: {program} is not installed. Install it: {fix}",
        "无法读取剪贴板：未安装 {program}。安装：{fix}",
    ),
    "clipboard_no_screen": (
        "There is no clipboard here: this terminal has no screen of its own. Paste the path of an image file instead.",
        "这里没有剪贴板：该终端没有图形环境。可以粘贴图片文件的路径。",
    ),
    "clipboard_failed": ("The clipboard could not be read: {reason}", "无法读取剪贴板：{reason}"),
    "editor_none": (
        "No editor was found; nothing was changed. Name one in the variable VISUAL or EDITOR.",
        "没有找到编辑器；未作更改。请用变量 VISUAL 或 EDITOR 指定。",
    ),
    "editor_missing": (
        "The editor {editor} could not be started ({reason}); nothing was changed. It is named in {variable}.",
        "无法启动编辑器 {editor}（{reason}）；未作更改。它由 {variable} 指定。",
    ),
    "editor_failed": (
        "The editor ended with code {code}; the text here is as it was.",
        "编辑器以代码 {code} 结束；此处文本未变。",
    ),
    "editor_failed_kept": (
        "The editor ended with code {code}; the text here is as it was. What was written lies in {path}.",
        "编辑器以代码 {code} 结束；此处文本未变。所写内容在 {path}。",
    ),
    "editor_lost": (
        "What the editor wrote could not be read ({reason}); the text here is as it was.",
        "无法读取编辑器写入的内容（{reason}）；此处文本未变。",
    ),
}
