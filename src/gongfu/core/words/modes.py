"""Sentences on work modes and commands."""

TEXT = {
    "unknown": (
        "There is no work mode {name!r}. Did you mean: {near}? `gongfu modes` lists them. Nothing was changed.",
        "没有工作模式 {name!r}。你是否想用：{near}？`gongfu modes` 可列出全部。未作任何改动。",
    ),
    "none": ("There are no work modes here; nothing was changed.", "此处没有工作模式；未作任何改动。"),
    "of_parent": (
        "A sub-agent works in the mode of the agent that started it; nothing was changed.",
        "子代理沿用启动它的代理的工作模式；未作任何改动。",
    ),
    "unreadable": (
        "{file} cannot be read ({reason}); it was not used.",
        "无法读取 {file}（{reason}）；未使用它。",
    ),
    "not_trusted": (
        "{file} is not what it was when its folder was trusted; it was not used. Start again to decide on it.",
        "{file} 与信任其文件夹时的内容不同；未使用它。请重新启动以作决定。",
    ),
    "bad_front": (
        "The front matter of {file} is wrong: {reason}. The file was not used.",
        "{file} 的 front matter 有误：{reason}。未使用该文件。",
    ),
    "no_command": (
        "There is no command /{name}. Did you mean: {near}? `gongfu commands` lists them. Nothing was sent.",
        "没有命令 /{name}。你是否想用：{near}？`gongfu commands` 可列出全部。没有发送任何内容。",
    ),
    "argument_missing": (
        "The command needs {name}: {usage}. Nothing was sent.",
        "该命令需要 {name}：{usage}。没有发送任何内容。",
    ),
    "argument_nul": (
        "An argument holds a NUL character, which no command takes: {usage}. Nothing was sent.",
        "参数中含有 NUL 字符，任何命令都不接受：{usage}。没有发送任何内容。",
    ),
    "no_posix_shell": (
        "The command /{name} puts arguments into command lines, which is only safe with bash or sh. Nothing was sent.",
        "命令 /{name} 会把参数放进命令行，只有使用 bash 或 sh 时才安全。没有发送任何内容。",
    ),
    "now": ("work mode: {name}", "工作模式：{name}"),
    "left": ("work mode: none", "工作模式：无"),
    "reasoning_now": ("reasoning: {effort}", "思考强度：{effort}"),
}
