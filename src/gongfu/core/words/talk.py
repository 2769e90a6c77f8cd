"""Sentences of the conversation in a terminal."""

TEXT: dict[str, tuple[str, str]] = {
    "hints": (
        "/ for commands, @ for files, ! for a command of your own, ? for keys",
        "/ 命令，@ 文件，! 自己运行命令，? 按键",
    ),
    "placeholder": ("What shall be done?", "要做什么？"),
    "stopping": ("Stopping …", "正在停止……"),
    "ctrl_c_again": ("Press Ctrl-C again to leave.", "再按一次 Ctrl-C 退出。"),
    "bye": ("Go on later with: gongfu -s {session}", "以后继续：gongfu -s {session}"),
    "queued": ("queued {number}. {text}", "排队 {number}. {text}"),
    "steering": ("for the next step: {text}", "下一步前送达：{text}"),
    "unknown_command": (
        "There is no command /{name}; nothing was sent. Type /help.",
        "没有命令 /{name}；未发送任何内容。请输入 /help。",
    ),
    "unknown_command_but": (
        "There is no command /{name}; did you mean /{close}? Nothing was sent.",
        "没有命令 /{name}；是否想用 /{close}？未发送任何内容。",
    ),
    "busy": (
        "/{name} has to wait until the turn has ended; press Esc to stop it.",
        "/{name} 要等本轮结束；按 Esc 可以停止。",
    ),
    "switched": ("Session {session}: {title}", "会话 {session}：{title}"),
    "plain_pick": ("number or name, Enter for none:", "编号或名称，直接回车为不选："),
    "plain_ready": ("Enter sends again: {text}", "直接回车再次发送：{text}"),
}
