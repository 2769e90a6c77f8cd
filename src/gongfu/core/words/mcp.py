"""Servers of tools (MCP): their states, what goes wrong, and `gongfu mcp`."""

TEXT: dict[str, tuple[str, str]] = {
    "asks": ("The MCP server {server} asks:", "MCP 服务器 {server} 询问："),
    "does_not_fit": ("(that does not fit)", "（不符合要求）"),
    "state_off": ("off", "停用"),
    "state_wrong": ("wrong settings", "设置有误"),
    "none": (
        "No MCP servers are configured. Add one: `gongfu mcp add NAME COMMAND …` or `gongfu mcp add NAME URL`.",
        "没有配置 MCP 服务器。添加：`gongfu mcp add 名称 命令 …` 或 `gongfu mcp add 名称 URL`。",
    ),
    "unknown": (
        "There is no MCP server {name!r}. There are: {known}.",
        "没有名为 {name!r} 的 MCP 服务器。现有：{known}。",
    ),
    "exists": (
        "There is an MCP server {name!r} already; nothing was changed. Remove it first: gongfu mcp remove {name}",
        "名为 {name!r} 的 MCP 服务器已存在；没有任何改动。请先移除：gongfu mcp remove {name}",
    ),
    "bad_name": (
        "{name!r} cannot be the name of a server: letters, digits, `-` and `_` only; nothing was changed.",
        "{name!r} 不能作为服务器名称：只能用字母、数字、`-` 和 `_`；没有任何改动。",
    ),
    "bad_pair": (
        "{given!r} is not of the form {wanted}; nothing was changed.",
        "{given!r} 不是 {wanted} 的形式；没有任何改动。",
    ),
    "needs_target": (
        "Say what the server is: a command with its arguments, or an address that begins with http:// or https://.",
        "请说明服务器：命令及其参数，或以 http:// 或 https:// 开头的地址。",
    ),
    "added": (
        "{name} was added to {file}. Try it: gongfu mcp test {name}",
        "已将 {name} 添加到 {file}。试用：gongfu mcp test {name}",
    ),
    "removed": ("{name} was removed from {file}.", "已从 {file} 移除 {name}。"),
    "not_yours": (
        "{name} does not stand in your settings but in {file}; take it out there. Nothing was changed.",
        "{name} 不在你的设置中，而在 {file} 中；请在那里删除。没有任何改动。",
    ),
    "untrusted": (
        "{file} names servers too; they count once the folder is trusted: gongfu trust",
        "{file} 也列出了服务器；信任该文件夹后才会生效：gongfu trust",
    ),
    "from_project": ("project", "项目"),
    "from_user": ("yours", "你的"),
    "logged_in": ("logged in", "已登录"),
    "login_hint": ("it needs a login: gongfu mcp login {name}", "需要登录：gongfu mcp login {name}"),
    "tools_count": ("{count} tools", "{count} 个工具"),
    "tool_refused": ("not taken: {name}: {why}", "未采用：{name}：{why}"),
    "stderr": ("It wrote to its standard error:", "它写到标准错误的内容："),
    "speaks": ("speaks {version}; calls itself {title}", "协议 {version}；自称 {title}"),
    "login_no_url": (
        "{name} is a program on this machine: there is nothing to log in to.",
        "{name} 是本机上的程序：无需登录。",
    ),
    "login_open": ("Open this address in a browser to log in to {name}:", "请在浏览器中打开此地址以登录 {name}："),
    "login_wait": ("Waiting for the browser (Ctrl-C to give up) …", "正在等待浏览器（按 Ctrl-C 放弃）…"),
    "login_page": (
        "You are logged in. You can close this page and go back to the terminal.",
        "登录已返回。你可以关闭此页面，回到终端。",
    ),
    "login_done": ("Logged in to {name}; it has {count} tools.", "已登录 {name}；它有 {count} 个工具。"),
    "login_not_needed": (
        "{name} works without a login; it has {count} tools.",
        "{name} 无需登录即可使用；它有 {count} 个工具。",
    ),
    "login_failed": (
        "The login to {name} did not work: {why}. Nothing was kept.",
        "登录 {name} 失败：{why}。没有保存任何内容。",
    ),
    "logout_done": ("The login to {name} was forgotten on this machine.", "已在本机忘记 {name} 的登录。"),
    "logout_none": ("No login to {name} was kept.", "没有保存 {name} 的登录。"),
    "test_failed": ("{name} does not work: {why}", "{name} 无法使用：{why}"),
    "doctor_fine": ("{count} servers configured", "已配置 {count} 个服务器"),
    "doctor_bad": ("{names}: {why}", "{names}：{why}"),
    "import_unknown": (
        "No other agent here has a server called {names} that you do not have already. Nothing was written.",
        "这里的其他代理没有名为 {names} 且你尚未拥有的服务器。没有写入任何内容。",
    ),
    "import_none": (
        "No server of Claude Code, Codex or Qwen Code was found that you do not have already.",
        "没有找到你尚未拥有的 Claude Code、Codex 或 Qwen Code 的服务器。",
    ),
    "import_how": (
        "Nothing was written. `gongfu mcp import --yes` takes them over; name some to take only those.",
        "没有写入任何内容。`gongfu mcp import --yes` 会全部接管；给出名称则只接管这些。",
    ),
    "import_question": ("Put these {count} into your settings?", "把这 {count} 个写入你的设置吗？"),
    "import_nothing": ("Nothing was written.", "没有写入任何内容。"),
    "imported": ("Put into {file}: {names}.", "已写入 {file}：{names}。"),
    "import_secrets": (
        "holds values in clear that are copied too: {names}; better write them as ${{VARIABLE}}",
        "含有会一并复制的明文值：{names}；最好改写成 ${{变量}}",
    ),
    "import_left": ("not taken over: {names}", "未接管：{names}"),
    "import_hint": (
        "Other agents here know {count} MCP servers: `gongfu mcp import` shows them and takes them over.",
        "这里的其他代理配置了 {count} 个 MCP 服务器：`gongfu mcp import` 可查看并接管。",
    ),
}
