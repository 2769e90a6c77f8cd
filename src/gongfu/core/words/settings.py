"""What each setting is for, by its dotted name; the English side is that of the types (`config.settings`).

`docs_…` are the sentences around the tables of docs/configuration.md.
"""

TEXT: dict[str, tuple[str, str]] = {
    "language": ("Language of the screen.", "界面语言。"),
    "models": (
        "Which model serves which role. Each is a fallback chain of `provider/model`, tried in order.",
        "各角色使用的模型。每项是 `provider/model` 的后备链，按顺序尝试。",
    ),
    "models.main": ("The model that does the work.", "承担主要工作的模型。"),
    "models.fast": (
        "A quick, cheap model for titles, labels and summaries.",
        "用于标题、标签和摘要的快速廉价模型。",
    ),
    "models.embedding": ("A model that turns text into vectors.", "把文字转成向量的模型。"),
    "providers": ("Endpoints by name.", "按名称列出的服务端点。"),
    "providers.NAME.api": ("The dialect it speaks.", "它使用的接口协议。"),
    "providers.NAME.base_url": (
        "Its address, up to and including the version (`…/v1`).",
        "它的地址，写到版本号为止（`…/v1`）。",
    ),
    "providers.NAME.api_key": ("Its key, best as `${{ENV_VAR}}`.", "它的密钥，最好写成 `${{环境变量}}`。"),
    "providers.NAME.quirks": (
        "Name of its table of oddities; found by address when left out.",
        "它的特性表名称；省略时按地址查找。",
    ),
    "providers.NAME.headers": ("Further HTTP headers.", "附加的 HTTP 头。"),
    "providers.NAME.ca_file": (
        "A file of certificates to trust besides the system's.",
        "除系统证书外还信任的证书文件。",
    ),
    "providers.NAME.proxy": (
        "A proxy for this endpoint; else the usual variables are read.",
        "此端点使用的代理；省略时读取常用的环境变量。",
    ),
    "providers.NAME.script": (
        "For `scripted`: the file with the script that is played.",
        "用于 `scripted`：要播放的脚本文件。",
    ),
    "model_settings": (
        "By `provider/model`; `*` for a model that is found by itself.",
        "按 `provider/model` 设置；`*` 用于自动找到的模型。",
    ),
    "model_settings.NAME.window": (
        "Context window in tokens; 0 takes the catalog's.",
        "上下文窗口（token）；0 表示用目录中的值。",
    ),
    "model_settings.NAME.max_context_tokens": (
        "Cap on the window used, for money's sake; 0 uses the whole window.",
        "为节省费用而限制使用的窗口；0 表示用满整个窗口。",
    ),
    "model_settings.NAME.max_output_tokens": (
        "Longest answer; 0 takes the catalog's.",
        "最长的回答；0 表示用目录中的值。",
    ),
    "model_settings.NAME.temperature": (
        "How freely it chooses words; its own default if none.",
        "选词的自由程度；不设则用模型默认值。",
    ),
    "model_settings.NAME.top_p": (
        "Share of likely words it chooses from; its own default if none.",
        "候选词的概率范围；不设则用模型默认值。",
    ),
    "model_settings.NAME.reasoning": ("How much it thinks before it answers.", "回答前思考的程度。"),
    "model_settings.NAME.supports_images": (
        "Whether it sees images; the catalog's if none.",
        "是否能看图片；不设则用目录中的值。",
    ),
    "model_settings.NAME.supports_tools": (
        "Whether it calls tools by itself; the catalog's if none.",
        "是否会自行调用工具；不设则用目录中的值。",
    ),
    "model_settings.NAME.input_price": (
        "US dollars for a million prompt tokens.",
        "每百万提示token的价格（美元）。",
    ),
    "model_settings.NAME.cached_price": ("The same, read from the cache.", "同上，从缓存读取时的价格。"),
    "model_settings.NAME.output_price": (
        "US dollars for a million generated tokens.",
        "每百万生成token的价格（美元）。",
    ),
    "permission": (
        "What may run without asking. Rules: `TOOL`, `TOOL(PATTERN)`, `path(GLOB)`, `host(NAME)`, `command(PATTERN)`.",
        "哪些操作无需询问。规则写作 `工具`、`工具(模式)`、`path(通配符)`、`host(名称)` 或 `command(模式)`。",
    ),
    "permission.mode": (
        "`ask` before every change, `edits` allows edits in the workspace, `plan` only reads, `auto` allows what stays "
        "in the workspace and the sandbox, `full` allows all.",
        "`ask` 每次改动前询问，`edits` 允许工作区内的编辑，`plan` 只读，`auto` 允许不出工作区和沙箱的一切，`full` 全部允许。",
    ),
    "permission.allow": ("What runs without asking.", "无需询问即可运行的内容。"),
    "permission.ask": ("What is asked for in every mode.", "在任何模式下都要询问的内容。"),
    "permission.deny": ("What never runs, whatever the mode.", "无论什么模式都绝不运行的内容。"),
    "limits": ("Where a turn and everything it starts must stop.", "一轮工作及其启动的一切在何处必须停止。"),
    "limits.max_steps": ("Requests of the main model in one turn.", "一轮中主模型的请求次数。"),
    "limits.max_cost": ("US dollars in one turn.", "一轮的费用（美元）。"),
    "limits.max_minutes": ("Minutes in one turn.", "一轮的分钟数。"),
    "limits.max_tokens": ("Prompt and generated tokens in one turn.", "一轮的提示与生成token数。"),
    "limits.extra_steps_on_continue": (
        "Further steps when a stopped turn goes on.",
        "停止的一轮继续时追加的步数。",
    ),
    "context": ("How the context is built.", "如何构建上下文。"),
    "context.keep_recent": (
        "Newest exchanges that a fold keeps before anything older.",
        "折叠上下文时优先保留的最近往来数。",
    ),
    "context.tool_use_summaries": (
        "Whether the fast model writes labels for batches of tool calls.",
        "是否由快速模型为成批的工具调用写标签。",
    ),
    "context.summaries_may_use_main": (
        "Whether the main model may write summaries when there is no fast one.",
        "没有快速模型时，是否可由主模型写摘要。",
    ),
    "context.rules_share": (
        "Share of the budget that mandatory project rules may take.",
        "必达项目规则最多可占预算的比例。",
    ),
    "context.max_tool_output": (
        "Bytes of one tool result that the model is shown.",
        "展示给模型的单个工具结果的字节数。",
    ),
    "shell": ("How commands run.", "命令如何运行。"),
    "shell.idle_seconds": (
        "A command that does nothing for so long is stopped.",
        "命令在这么长时间内毫无动静就会被停止。",
    ),
    "shell.keep_env": (
        "Variables that look like secrets and are passed to commands all the same.",
        "看起来像密钥、但仍然传给命令的环境变量。",
    ),
    "tools": ("Which tools every request carries.", "每次请求都带上哪些工具。"),
    "tools.pin": (
        "Further tools that every request carries, by name; the others are found.",
        "每次请求额外带上的工具的名称；其余工具按需查找。",
    ),
    "web": (
        "How tools use the web. A project's settings change nothing here.",
        "工具如何使用网络。项目的设置不能更改这里的内容。",
    ),
    "web.allow_hosts": (
        "What may be reached although it is not public: names, `*.NAME`, addresses and networks, with `:PORT` or not.",
        "虽不公开但允许访问的主机：名称、`*.名称`、地址或网段，可带 `:端口`。",
    ),
    "web.max_bytes": ("Bytes that are read of one page or file.", "一个网页或文件最多读取多少字节。"),
    "web.seconds": ("How long one fetch may take.", "一次抓取最多多少秒。"),
    "web.search": (
        "Engines of web_search, tried in order: `duckduckgo`, `bing`, `brave`, `searxng`, `tavily`, `serper`, `bocha`, "
        "or names of `engines`.",
        "web_search 依次尝试的搜索引擎：`duckduckgo`、`bing`、`brave`、`searxng`、`tavily`、`serper`、`bocha`，"
        "或 `engines` 中的名称。",
    ),
    "web.engines": ("Keys and addresses of engines, by name.", "按名称给出的搜索引擎的密钥和地址。"),
    "web.engines.NAME.kind": (
        "What it speaks, when its name does not say that.",
        "它的类型（名称不能说明时）。",
    ),
    "web.engines.NAME.url": (
        "Its address, when it is not the usual one; `searxng` has none.",
        "它的地址（不是默认地址时）；`searxng` 没有默认地址。",
    ),
    "web.engines.NAME.api_key": ("Its key, best as `${{ENV_VAR}}`.", "它的密钥，最好写成 `${{环境变量}}`。"),
    "web.github": (
        "The interface of GitHub, or of a GitHub Enterprise server.",
        "GitHub 或 GitHub Enterprise 服务器的接口地址。",
    ),
    "web.browser": ("The browser of the browser tools.", "浏览器工具使用的浏览器。"),
    "web.browser.headless": ("Whether it works without a window.", "是否不显示窗口。"),
    "web.browser.executable": (
        "Its program; a Chrome, Chromium or Edge that is found if empty.",
        "浏览器程序；留空则自动查找 Chrome、Chromium 或 Edge。",
    ),
    "sandbox": ("Where commands run.", "命令在哪里运行。"),
    "sandbox.kind": (
        "`auto` takes `bwrap`, else `landlock`; `off` runs commands without a sandbox.",
        "`auto` 优先使用 `bwrap`，否则用 `landlock`；`off` 不使用沙箱。",
    ),
    "sandbox.required": (
        "Whether commands are refused where no sandbox can be had.",
        "没有可用沙箱时是否拒绝运行命令。",
    ),
    "sandbox.network": (
        "What commands reach: nothing, the `hosts` below, or all.",
        "命令能访问的网络：无、下面的 `hosts`，或全部。",
    ),
    "sandbox.hosts": (
        "Hosts for `list`: names, `*.NAME`, with `:PORT` or not.",
        "`list` 允许的主机：名称、`*.名称`，可带 `:端口`。",
    ),
    "sandbox.writable": (
        "Folders besides the workspace that may be written.",
        "除工作区外可以写入的文件夹。",
    ),
    "sandbox.hidden": (
        "Further files and folders that commands do not see.",
        "命令看不到的其他文件和文件夹。",
    ),
    "mcp": ("Servers of further tools.", "提供更多工具的服务器。"),
    "mcp.servers": ("MCP servers by name.", "按名称列出的 MCP 服务器。"),
    "mcp.servers.NAME.command": ("The program that is started.", "要启动的程序。"),
    "mcp.servers.NAME.args": ("Its arguments.", "它的参数。"),
    "mcp.servers.NAME.env": (
        "Variables for it, best as `${{ENV_VAR}}`; it gets no other secrets.",
        "传给它的环境变量，最好写成 `${{环境变量}}`；它得不到其他机密。",
    ),
    "mcp.servers.NAME.cwd": (
        "Where it starts; the workspace when left out.",
        "它启动时所在的文件夹；省略时为工作区。",
    ),
    "mcp.servers.NAME.url": ("The address of a server that runs somewhere else.", "在别处运行的服务器的地址。"),
    "mcp.servers.NAME.headers": (
        "Further HTTP headers, best with `${{ENV_VAR}}`.",
        "附加的 HTTP 头，最好用 `${{环境变量}}`。",
    ),
    "mcp.servers.NAME.transport": (
        "`stdio`, `http` (streamable) or `sse` (the old one); by itself what fits.",
        "`stdio`、`http`（流式）或 `sse`（旧式）；默认自动选择。",
    ),
    "mcp.servers.NAME.timeout": (
        "Seconds that a call may take; news of its progress begins them anew.",
        "一次调用最多用多少秒；收到进度消息时重新计时。",
    ),
    "mcp.servers.NAME.disabled": ("Whether it is left alone.", "是否停用。"),
    "mcp.servers.NAME.read_only": (
        "Its tools that only read (`*` for all): they run without asking.",
        "它的只读工具（`*` 表示全部）：无需询问即可运行。",
    ),
    "mcp.servers.NAME.tools": (
        "The only tools that are taken (globs); all when empty.",
        "只采用这些工具（通配符）；留空则全部采用。",
    ),
    "mcp.servers.NAME.exclude": ("Tools that are not taken (globs).", "不采用的工具（通配符）。"),
    "hooks": (
        "Commands that run at events; the shape of Claude Code too.",
        "在事件发生时运行的命令；也接受 Claude Code 的写法。",
    ),
    "hooks.N.event": ("When it runs.", "何时运行。"),
    "hooks.N.command": (
        "The command: its words, or a line to cut into them.",
        "命令：各个词，或一行待切分成词的文字。",
    ),
    "hooks.N.match": (
        "What it is for (a tool, by its name): globs with bars between them; empty for all.",
        "针对什么（如工具名）：用竖线分隔的通配符；留空表示全部。",
    ),
    "hooks.N.seconds": ("How long it may take.", "最多运行多少秒。"),
    "hooks.N.shell": ("Whether a shell runs the line.", "是否由 shell 执行这一行。"),
    "hooks.N.shape": (
        "Whose JSON it reads and writes; with `claude`, `match` is a regular expression on its names.",
        "读写哪种 JSON；为 `claude` 时，`match` 是针对其名称的正则表达式。",
    ),
    "retention": ("How long things are kept.", "内容保留多久。"),
    "retention.days": (
        "Sessions unused for so many days are deleted; none keeps all.",
        "这么多天未使用的会话会被删除；不设则全部保留。",
    ),
    "desktop": ("How the screen is used.", "如何使用屏幕。"),
    "desktop.try_on": (
        "Where `try_gui` starts programs: on a `private` display that nobody sees (the program `Xvfb`), on your "
        "`screen`, or (`auto`) on a private one where that can be had.",
        "`try_gui` 在哪里启动程序：没人看得见的私有显示（`private`，需要程序 `Xvfb`），你的屏幕（`screen`），或（`auto`）能用私有显示时就用。",
    ),
    "desktop.ocr": (
        "What reads text in pictures; `auto` takes `rapidocr` where it is installed.",
        "用什么识别图片中的文字；`auto` 在安装了 `rapidocr` 时使用它。",
    ),
    "local": ("Where you are, and who is asked for the weather.", "你在哪里，以及向谁查询天气。"),
    "local.place": (
        "Where you are: a place by its name, or `latitude, longitude`.",
        "你所在的地方：地名，或 `纬度, 经度`。",
    ),
    "local.units": ("How the weather is measured.", "天气用的度量单位。"),
    "local.weather_url": (
        "A forecast service that answers as Open-Meteo does.",
        "天气预报服务，其回答与 Open-Meteo 相同。",
    ),
    "local.geocode_url": (
        "A service that finds places by name, as Open-Meteo's does.",
        "按名称查找地点的服务，其回答与 Open-Meteo 的相同。",
    ),
    "local.whereabouts_url": (
        "A service that tells by the network address where you are; none is asked if empty.",
        "按网络地址告知你在哪里的服务；留空则不询问任何服务。",
    ),
    "email": ("The account that `send_email` sends from.", "`send_email` 发信所用的账户。"),
    "email.host": ("The mail server (SMTP); without one no mail is sent.", "邮件服务器（SMTP）；不设则不发邮件。"),
    "email.port": ("Its port; 0 takes the usual one.", "它的端口；0 表示用常用端口。"),
    "email.security": ("How the connection is kept private.", "连接如何加密。"),
    "email.user": ("The name to log in with; none logs in with none.", "登录名；留空则不登录。"),
    "email.password": ("The password, best as `${{ENV_VAR}}`.", "密码，最好写成 `${{环境变量}}`。"),
    "email.sender": ("The address mail comes from; `user` if empty.", "发件人地址；留空则用 `user`。"),
    "email.recipients": (
        "Who may get mail: addresses or `*@DOMAIN`; anybody if none.",
        "谁可以收到邮件：地址或 `*@域名`；留空则任何人。",
    ),
}
