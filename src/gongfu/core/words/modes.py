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
    "for_turn": ("work mode for this turn: {name} (of {command})", "本轮工作模式：{name}（来自 {command}）"),
    "of_user": ("yours", "你的"),
    "of_project": ("of the project", "项目的"),
    "how": (
        "Work in one with `--mode NAME`; `gongfu modes show NAME` tells all of it.",
        "用 `--mode 名称` 选用；`gongfu modes show 名称` 查看详情。",
    ),
    "how_commands": (
        'Use one as a task: `gongfu "/review src"`; `gongfu commands show NAME` tells all of it.',
        '作为任务使用：`gongfu "/review src"`；`gongfu commands show 名称` 查看详情。',
    ),
    "holds_nothing": ("everything by permission", "一切按权限进行"),
    "holds_write_ask": ("changes freely: {globs}; changes elsewhere ask", "可自由修改：{globs}；其他位置的修改须询问"),
    "holds_write_deny": ("changes: {globs}; nothing elsewhere", "可修改：{globs}；其他位置一律不改"),
    "holds_no_write_ask": ("every change asks{globs}", "任何修改都须询问{globs}"),
    "holds_no_write_deny": ("changes no files{globs}", "不修改任何文件{globs}"),
    "holds_commands_ask": ("commands that ask: {ratings}", "须询问的命令：{ratings}"),
    "holds_commands_deny": ("commands that do not run: {ratings}", "不运行的命令：{ratings}"),
    "holds_effects_ask": ("tools over the network or on the desktop ask", "使用网络或桌面的工具须询问"),
    "holds_effects_deny": ("no tools over the network or on the desktop", "不使用网络或桌面的工具"),
    "holds_rules_ask": ("asks for: {rules}", "须询问：{rules}"),
    "holds_rules_deny": ("never runs: {rules}", "从不运行：{rules}"),
    "holds_sealed": (
        "commands cannot write in the workspace where there is a sandbox",
        "在有沙箱的地方，命令不能写入工作区",
    ),
    "holds_tools": ("offers only: {names}", "只提供：{names}"),
    "holds_without": ("does not offer: {names}", "不提供：{names}"),
    "holds_pin": ("always at hand: {names}", "始终提供：{names}"),
    "reasoning_now": ("reasoning: {effort}", "思考强度：{effort}"),
}
