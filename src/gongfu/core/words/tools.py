"""Sentences on tools: what there is, what is missing, and what is wrong with a set of tools or a call of one."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "clash": (
        "Two tools are called {name}. No tool was loaded; remove or rename one of them, or let one say that it "
        "replaces the other.",
        "有两个名为 {name} 的工具。没有加载任何工具；请删除或重命名其中一个，或声明其中一个替换另一个。",
    ),
    "unknown": (
        "There is no tool {name}. Nothing was run; `gongfu tools` lists all of them.",
        "没有名为 {name} 的工具。没有运行任何内容；`gongfu tools` 会列出全部工具。",
    ),
    "unknown_near": (
        "There is no tool {name}. Nothing was run; did you mean {near}?",
        "没有名为 {name} 的工具。没有运行任何内容；你是不是想用 {near}？",
    ),
    "no_pair": (
        "{value} is no PARAMETER=VALUE. Nothing was run; `gongfu tools show {name}` names the parameters.",
        "{value} 不是“参数=值”的形式。没有运行任何内容；`gongfu tools show {name}` 会列出参数。",
    ),
    "twice": (
        "{name} is given twice. Nothing was run; give each parameter once.",
        "{name} 给出了两次。没有运行任何内容；每个参数只给一次。",
    ),
    "no_json": (
        "The arguments are not valid JSON: {reason}. Nothing was run; give one JSON object.",
        "参数不是有效的 JSON：{reason}。没有运行任何内容；请给出一个 JSON 对象。",
    ),
    "no_object": (
        'The arguments are no JSON object. Nothing was run; write them as {{"parameter": value}}.',
        '参数不是 JSON 对象。没有运行任何内容；请写成 {{"参数": 值}}。',
    ),
    "refused": ("{tool} was not run: {why}.", "没有运行 {tool}：{why}。"),
    "needs_consent": (
        "{tool} was not run: {why}. Run it at a terminal to be asked, or with `--yes` for what stays in the workspace, "
        "`--permission full` for anything.",
        "没有运行 {tool}：{why}。请在终端中运行以便询问，或用 `--yes` 允许不超出工作区的内容，"
        "用 `--permission full` 允许一切。",
    ),
    "images": ("With {count} image(s), which a terminal does not show.", "含 {count} 张图片，终端不显示。"),
    "none_fits": ("No tool fits these words.", "没有符合这些词的工具。"),
    "counts": (
        "{count} tools; ● {core} are in every request, the others are found when they are needed; ✗ {lacking} lack "
        "something here (`gongfu tools doctor`).",
        "共 {count} 个工具；● {core} 个随每次请求发送，其余按需查找；✗ {lacking} 个在此缺少条件（`gongfu tools doctor`）。",
    ),
    "display": ("a display", "显示器（图形桌面）"),
    "lacks": ("{what} is missing, for: {tools}", "缺少 {what}，影响：{tools}"),
    "works": ("{works} of {count} tools work here.", "{count} 个工具中有 {works} 个可在此使用。"),
    "required": ("required", "必填"),
    "access": ("Touches: {access}.", "涉及：{access}。"),
    "access_read": ("reads", "读取"),
    "access_write": ("changes files", "修改文件"),
    "access_execute": ("runs programs", "运行程序"),
    "access_network": ("the network", "网络"),
    "access_desktop": ("the desktop", "桌面"),
    "carried": ("In every request: {tokens} tokens.", "随每次请求发送：{tokens} 个 token。"),
    "disclosed": (
        "Found when it is needed; {tokens} tokens where `tools.pin` puts it into every request.",
        "按需查找；若用 `tools.pin` 放入每次请求，占 {tokens} 个 token。",
    ),
    "misses": ("It cannot work here: {what} is missing.", "在此无法使用：缺少 {what}。"),
    "reference_title": ("Tools", "工具"),
    "reference_intro": (
        "Gongfu has {count} tools. {core} of them are in every request ({tokens} tokens of schema); the model finds the "
        "others with `find_tools` and calls them with `use_tool`, so the list of tools, and with it the cached prompt, "
        "never changes within a session. `tools.pin` in the [settings](configuration.md) puts more of them into every "
        "request. What a tool may do is decided by the [permissions](permissions.md) all the same. Tools of "
        "MCP servers come on top.",
        "Gongfu 有 {count} 个工具。其中 {core} 个随每次请求发送（定义共 {tokens} 个 token）；其余由模型用 `find_tools` 查找、"
        "用 `use_tool` 调用，因此一个会话中的工具列表以及被缓存的提示词从不改变。用[设置](configuration.md)中的 "
        "`tools.pin` 可让更多工具随每次请求发送。工具可以做什么始终由[权限](permissions.md)决定。MCP 服务器的工具另外加入。",
    ),
    "reference_try": (
        "See and try them from the command line:",
        "可以在命令行查看和试用：",
    ),
    "reference_page": ("This page is made from the tools themselves.", "本页由工具自身生成。"),
    "column_tool": ("Tool", "工具"),
    "column_does": ("What it does", "作用"),
    "column_parameters": ("Parameters (required in bold)", "参数（粗体为必填）"),
    "column_needs": ("Needs", "需要"),
    "family_files": ("Files", "文件"),
    "family_edit": ("Editing", "编辑"),
    "family_search": ("Search", "搜索"),
    "family_shell": ("Shell", "命令行"),
    "family_web": ("Web", "网络"),
    "family_recall": ("Recall", "回忆"),
    "family_plan": ("Plans and modes", "计划与模式"),
    "family_ask": ("Questions", "提问"),
    "family_agents": ("Sub-agents", "子代理"),
    "family_disclosure": ("Tools on demand", "按需工具"),
    "family_git": ("Git", "Git"),
    "family_python": ("Tests, lint, packaging", "测试、检查与打包"),
    "family_packages": ("Packages", "依赖包"),
    "family_code": ("Code navigation", "代码导航"),
    "family_browser": ("Browser", "浏览器"),
    "family_desktop": ("Desktop", "桌面"),
    "family_settings": ("Settings", "设置"),
    "family_export": ("Export", "导出"),
    "family_clock": ("Dates and times", "日期与时间"),
    "family_local": ("Where you are", "本地信息"),
    "family_notify": ("Notices and mail", "通知与邮件"),
    "family_mcp": ("MCP servers", "MCP 服务器"),
}
